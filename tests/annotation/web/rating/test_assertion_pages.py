"""A rater's call becomes an assertion of their own test, and stays evidence of their label."""

from __future__ import annotations

import json

import pytest
from django.test import Client

from annotation.models import Assignment, CallAnswer, CallRequest, Condition, Rating, RatingDraft
from sandbox.expression_call import Answer, CallOutcome
from sandbox.reports.report import Frame, Raised
from tests import studies
from tests.rating_pages import given, of_two, page, path, send

pytestmark = pytest.mark.django_db
HTMX = {"HX-Request": "true"}
LINES = "assert reverse([1]) == [1]"
ANSWER = Answer(CallOutcome.RETURNED, value="[1]", type="list")


def called(of: Assignment, answer: Answer = ANSWER, right: bool = False) -> CallRequest:
    stored = CallAnswer.objects.create(outcome=answer.outcome, seconds=0, text=answer.to_json())
    pair = of.study_pair.other if right else of.study_pair.pair
    assert pair is not None
    return CallRequest.objects.create(
        user=of.rater, assignment=of, pair=pair, expression="reverse([1])", answer=stored, state="done"
    )


def where(of: Assignment, call: CallRequest) -> str:
    return path(of, f"calls/{call.pk}/assertion/")


@pytest.fixture
def of(client: Client) -> Assignment:
    return given(client, Condition.Kind.OWN_TESTS)


def test_one_key_puts_the_latest_call_into_the_test(client: Client, of: Assignment) -> None:
    call = called(of)
    html = page(client, of)
    assert f'hx-post="{where(of, call)}"' in html
    assert 'data-key="; a"' in html
    answer = client.post(where(of, call), headers=HTMX)
    kept = RatingDraft.objects.get(field="test").revision
    told = {"asserted": {"lines": LINES, "revision": kept, "before": ""}}
    assert (answer.status_code, json.loads(answer["HX-Trigger"])) == (204, told)
    kept = RatingDraft.objects.get(assignment=of, field="test").text
    assert kept.startswith("# You can call the function directly") and kept.endswith(f"\n\n{LINES}\n")
    assert f"{LINES}\n</textarea>" in page(client, of)


def test_the_label_rests_on_the_call_all_the_same(client: Client, of: Assignment) -> None:
    call = called(of)
    client.post(where(of, call), headers=HTMX)
    send(client, of, "1")
    assert Rating.objects.get().calls == [call.pk]


def test_it_is_added_to_the_test_that_was_run_last(client: Client, of: Assignment) -> None:
    client.post(path(of, "runs/"), {"source": "assert reverse([]) == []"})
    answer = client.post(where(of, called(of)))
    assert answer["Location"] == path(of)
    kept = RatingDraft.objects.get(assignment=of, field="test").text
    assert kept == f"assert reverse([]) == []\n\n{LINES}\n"


def test_what_can_not_be_asserted_is_said_in_the_box_of_its_snippet(client: Client) -> None:
    of = of_two(client)
    for right, box in ((False, "#calls"), (True, "#calls-right")):
        call = called(of, Answer(CallOutcome.TIMED_OUT), right=right)
        answer = client.post(where(of, call), headers=HTMX)
        assert (answer.status_code, answer["HX-Retarget"]) == (422, box)
        assert "nothing can be asserted" in answer.content.decode()
    assert not RatingDraft.objects.exists()


def test_the_second_snippets_calls_are_asserted_by_their_own_form(client: Client) -> None:
    of = of_two(client)
    html = page(client, of)
    assert 'id="assert-form"' in html and 'id="assert-form-right"' in html
    called(of, right=True)
    html = page(client, of)
    assert 'form="assert-form-right"' in html
    assert 'data-key="; a"' not in html, "the key is for the first box, as that of calling is"


def test_a_call_that_raised_links_to_its_own_snippet(client: Client) -> None:
    of = of_two(client)
    frames = (Frame("program", 1, "<module>", "other()"), Frame("candidate", 2, "other", "pass"))
    called(of, Answer(CallOutcome.RAISED, raised=Raised("TypeError", "no", frames)), right=True)
    assert 'href="#d-2">line 2</a>' in page(client, of)


def test_the_calls_of_another_rater_are_not_there(client: Client, of: Assignment) -> None:
    call = called(of)
    rolf = studies.rater("rolf", of.condition.study)
    theirs = studies.assignment(rolf, of.study_pair)
    client.force_login(rolf.user)
    assert client.post(where(theirs, call)).status_code == 403


def test_a_reloaded_address_asserts_nothing(client: Client, of: Assignment) -> None:
    assert client.get(where(of, called(of)))["Location"] == path(of)
    assert not RatingDraft.objects.exists()
