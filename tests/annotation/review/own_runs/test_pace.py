"""So many runs and calls a minute, whatever they are asked for; then the answer says when there is room."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from pytest_django import Settings

from annotation.accounts.roles import Role
from annotation.models import CallRequest, Case, Condition, Draft, ExecutionRequest, TestProgram, Trial
from annotation.review.own_runs import own_tests, pace
from annotation.review.own_runs.cross_tests import of_query
from annotation.review.own_runs.own_tests import TooFast, refuse_haste
from annotation.review.own_runs.strength import ask_strength
from tests import factories
from tests.rating_pages import given, path

pytestmark = pytest.mark.django_db
HTMX = {"HX-Request": "true"}


@pytest.fixture
def case() -> Case:
    return factories.examined(factories.cases(factories.opened())[0], 1)


@pytest.fixture(autouse=True)
def few(settings: Settings) -> None:
    settings.RUNS_PER_MINUTE = 3


def asked(case: Case, *seconds_ago: float) -> None:
    """Erin's requests that were answered: calls and runs in turns."""
    for number, seconds in enumerate(seconds_ago):
        columns = {"user": factories.erin(), "state": "done"}
        row: CallRequest | ExecutionRequest
        if number % 2:
            row = ExecutionRequest.objects.create(program=factories.program_for(case), **columns)
        else:
            row = CallRequest.objects.create(pair=case.pair, expression="1", **columns)
        type(row).objects.filter(pk=row.pk).update(created_at=timezone.now() - timedelta(seconds=seconds))


def read(case: Case) -> TestProgram:
    return TestProgram.objects.select_related("pair__snippet__body", "source").get(cases=case)


def test_there_is_room_below_the_limit_and_when_a_minute_has_passed(case: Case) -> None:
    erin = factories.erin()
    assert pace.seconds_to_wait(erin.pk) == 0
    asked(case, 20, 10)
    refuse_haste(erin.pk)
    asked(case, 61, 70, 80)
    refuse_haste(erin.pk)


def test_the_wait_ends_when_the_third_latest_is_a_minute_old(case: Case) -> None:
    now = timezone.now()
    asked(case, 50, 20, 10, 5)
    assert 39 <= pace.seconds_to_wait(factories.erin().pk, now) <= 60
    assert pace.seconds_to_wait(factories.erin().pk, now + timedelta(seconds=90)) == 0
    assert pace.seconds_to_wait(factories.ray().pk) == 0, "of others nothing counts"
    with pytest.raises(TooFast, match="3 runs and calls a minute"):
        own_tests.run_own_test(factories.erin(), case, "assert True", None)


def test_a_call_is_refused_with_the_time_to_wait_and_stays_in_its_field(erin: Client, case: Case) -> None:
    asked(case, 30, 20, 10)
    sent = erin.post(reverse("review-call", args=[case.pk]), {"expression": "reverse([7])"})
    assert sent.status_code == 429 and 0 < int(sent["Retry-After"]) <= 30
    html = sent.content.decode()
    assert "reverse([7])" in html and "ask again in" in html
    assert CallRequest.objects.filter(user=factories.erin()).count() == 2


def test_an_edited_test_is_refused_and_kept_in_the_editor(erin: Client, case: Case) -> None:
    asked(case, 30, 20, 10)
    sent = erin.post(reverse("review-test", args=[case.pk]), {"source": "assert 7 == 7"})
    assert sent.status_code == 429 and "Retry-After" in sent
    assert "assert 7 == 7" in sent.content.decode()


def test_each_run_of_a_tests_strength_counts(erin: Client, case: Case, settings: Settings) -> None:
    settings.RUNS_PER_MINUTE = 4
    where = reverse("review-strength", args=[case.program_id])
    assert erin.post(where, headers=HTMX).status_code == 200
    asked_for = Trial.objects.filter(user=factories.erin()).count()
    assert asked_for == 3, "beside the candidate and beside two faults of it"
    assert pace.remaining_rate_limit(factories.erin().pk) == 1
    refuse_haste(factories.erin().pk)
    other = own_tests.save_test(factories.erin(), case, "assert 1 == 1", None)
    refused = erin.post(reverse("review-strength", args=[other.pk]), headers=HTMX)
    assert refused.status_code == 429 and 0 < int(refused["Retry-After"]) <= 60
    html = refused.content.decode()
    assert "4 runs and calls a minute are the most. What ran is kept: ask again in" in html
    assert Trial.objects.count() == asked_for, "all of them or none"


def test_what_is_known_already_costs_nothing(erin: Client, case: Case) -> None:
    where = reverse("review-strength", args=[case.program_id])
    erin.post(where, headers=HTMX)
    assert pace.remaining_rate_limit(factories.erin().pk) == 0
    assert erin.post(where, headers=HTMX).status_code == 200
    eve = factories.person("eve", Role.EXPERT)
    assert ask_strength(eve, read(case), []) == 0 and pace.remaining_rate_limit(eve.pk) == 3


def test_more_at_once_than_a_minute_may_have_is_let_in_alone(
    erin: Client, case: Case, settings: Settings
) -> None:
    settings.RUNS_PER_MINUTE = 2
    asked(case, 30)
    where = reverse("review-strength", args=[case.program_id])
    assert erin.post(where, headers=HTMX).status_code == 429
    CallRequest.objects.all().delete()
    assert erin.post(where, headers=HTMX).status_code == 200


def test_a_table_asks_for_as_many_runs_as_there_is_room_for(erin: Client, settings: Settings) -> None:
    build = factories.opened()
    for case in factories.cases(build):
        factories.examined(case, 1)
    query = build.cases.order_by("pk")[0].query
    missing = len(of_query(build, query).missing)
    settings.RUNS_PER_MINUTE = missing - 1
    assert missing > 2 and of_query(build, query).next_runs == missing - 1
    where = reverse("crossing", args=[build.pk, query.pk])
    assert erin.post(where, headers=HTMX).status_code == 200
    assert Trial.objects.count() == missing - 1
    refused = erin.post(where, headers=HTMX)
    assert refused.status_code == 429 and "What ran is kept" in refused.content.decode()
    assert Trial.objects.count() == missing - 1
    Trial.objects.update(created_at=timezone.now() - timedelta(seconds=61))
    assert erin.post(where, headers=HTMX).status_code == 200
    assert Trial.objects.count() == missing


def test_pages_swap_such_an_answer_in(erin: Client) -> None:
    assert '"409|422|429","swap":true' in erin.get(reverse("work")).content.decode()


def test_raters_have_the_same_limit_and_keep_their_draft(client: Client) -> None:
    of = given(client, Condition.Kind.OWN_TESTS)
    for number in range(3):
        CallRequest.objects.create(
            user=of.rater, pair=of.study_pair.pair, expression=str(number), state="done"
        )
    call = client.post(path(of, "calls/"), {"expression": "1 + 1"}, headers=HTMX)
    run = client.post(path(of, "runs/"), {"source": "assert True"}, headers=HTMX)
    for sent in (call, run):
        assert sent.status_code == 429 and 0 < int(sent["Retry-After"]) <= 60
    assert set(of.drafts.values_list("field", "text")) == {("call", "1 + 1"), ("test", "assert True")}
    assert not Draft.objects.exists()
