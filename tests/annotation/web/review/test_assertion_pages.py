"""A call becomes an assertion: of one's own draft only, told to an open editor, or shown in one."""

from __future__ import annotations

import json

import pytest
from django.test import Client
from django.urls import reverse

from annotation.models import CallAnswer, CallRequest, Case, Draft
from sandbox.expression_call import Answer, CallOutcome
from tests import factories

pytestmark = pytest.mark.django_db
HTMX = {"HX-Request": "true"}


@pytest.fixture
def case() -> Case:
    return factories.examined(factories.cases(factories.opened())[0], 0)


def asked(case: Case, answer: Answer) -> CallRequest:
    stored = CallAnswer.objects.create(outcome=answer.outcome, seconds=0, text=answer.to_json())
    return CallRequest.objects.create(
        user=factories.erin(), pair=case.pair, expression="reverse([1])", answer=stored, state="done"
    )


@pytest.fixture
def call(case: Case) -> CallRequest:
    return asked(case, Answer(CallOutcome.RETURNED, value="[1]", type="list"))


def url(call: CallRequest) -> str:
    return reverse("review-assertion", args=[call.pk])


def test_the_lines_go_into_the_draft_and_to_the_page(erin: Client, call: CallRequest) -> None:
    answer = erin.post(url(call), headers=HTMX)

    assert answer.status_code == 204
    draft = Draft.objects.get()
    told = {"lines": "assert reverse([1]) == [1]", "revision": draft.revision, "before": "main()"}
    assert json.loads(answer["HX-Trigger"]) == {"asserted": told}
    assert draft.text.endswith("\n\nassert reverse([1]) == [1]\n\nmain()\n")


def test_without_javascript_the_editor_shows_it(erin: Client, case: Case, call: CallRequest) -> None:
    answer = erin.post(url(call))

    assert answer["Location"] == reverse("review-test", args=[case.pk])
    assert "assert reverse([1]) == [1]" in erin.get(answer["Location"]).content.decode()


def test_what_can_not_be_asserted_is_said_and_nothing_is_kept(erin: Client, case: Case) -> None:
    answer = erin.post(url(asked(case, Answer(CallOutcome.RETURNED, value="[1, …"))), headers=HTMX)

    assert answer.status_code == 422
    assert "too long to keep" in answer.content.decode()
    assert not Draft.objects.filter(field=Draft.Field.TEST).exists()


def test_the_calls_of_others_are_not_there(ada: Client, call: CallRequest) -> None:
    assert ada.post(url(call)).status_code == 404


def test_a_reloaded_address_asserts_nothing(erin: Client, case: Case, call: CallRequest) -> None:
    assert erin.get(url(call))["Location"] == reverse("review-case", args=[case.pk])
    assert not Draft.objects.exists()
