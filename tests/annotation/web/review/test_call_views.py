"""The box under the code: asked by form or htmx, answered in place, nothing typed lost."""

from __future__ import annotations

from collections import deque

import pytest
from celery.exceptions import OperationalError
from django.test import Client
from django.urls import reverse
from pytest_django import Settings

from annotation.accounts.roles import Role
from annotation.builds.pipeline.execution import SandboxProvider, fulfil_one
from annotation.jobs import celery_tasks
from annotation.models import CallRequest, Case, Draft
from annotation.review import drafts
from annotation.review.own_runs import calls
from annotation.web.review import call_views as views
from sandbox.expression_call import Answer, CallOutcome
from sandbox.program import Limits
from sandbox.reports.report import Frame, Raised
from sandbox.runner import SandboxUnavailable
from tests import factories
from tests.conftest import logged_in
from tests.fakes import FakeSandbox, returned

pytestmark = pytest.mark.django_db
HTMX = {"HX-Request": "true"}
HOSTILE = "'\"><script>alert(1)</script>\u202e'"


@pytest.fixture
def case() -> Case:
    return factories.examined(factories.cases(factories.opened())[0], 1)


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(views, "PATIENCE", 0)


def ask(client: Client, case: Case, expression: str = "reverse([1, 2])") -> str:
    """Send the form; the address of the answer."""
    sent = client.post(reverse("review-call", args=[case.pk]), {"expression": expression})
    assert sent.status_code == 302
    return sent["Location"]


def work(answer: Answer | Exception) -> None:
    box = FakeSandbox()
    box.answers = deque([answer])
    assert fulfil_one(SandboxProvider(open=lambda: box), Limits())


def fragment(client: Client, where: str) -> str:
    return client.get(where, headers=HTMX).content.decode()


def test_the_field_proposes_the_candidates_own_signature(erin: Client, case: Case) -> None:
    page = erin.get(reverse("review-case", args=[case.pk])).content.decode()

    assert 'placeholder="reverse(items)"' in page
    assert 'data-key="; c"' in page


def test_the_first_look_waits_for_a_quick_answer(
    erin: Client, case: Case, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A worker that answers while the view waits.
    monkeypatch.setattr("time.sleep", lambda seconds: work(returned("[]")))
    monkeypatch.setattr(views, "PATIENCE", 60)
    sent = erin.post(reverse("review-call", args=[case.pk]), {"expression": "reverse([])"}, headers=HTMX)

    assert sent.status_code == 200
    assert "reverse([]) gives []" in sent.content.decode()


def test_an_answer_replaces_the_list_and_is_announced(erin: Client, case: Case) -> None:
    where = ask(erin, case)
    assert "hx-trigger" in fragment(erin, where)

    work(returned("[2, 1]", "list", stdout="reversing\n", seconds=0.031))
    answer = fragment(erin, where)
    assert "hx-trigger" not in answer
    for words in ("[2, 1]", "list", "reversing", "31 ms", "reverse([1, 2]) gives [2, 1]"):
        assert words in answer
    assert "<html" not in answer


def test_an_exception_links_to_the_line_of_the_candidate(erin: Client, case: Case) -> None:
    where = ask(erin, case)
    frames = (
        Frame("program", 1, "<module>", "reverse(3)"),
        Frame("candidate", 2, "reverse", "items.reverse()"),
    )
    raised = Raised("AttributeError", "'int' object has no attribute 'reverse'", frames)
    work(Answer(CallOutcome.RAISED, raised=raised))
    answer = fragment(erin, where)

    assert "AttributeError: &#x27;int&#x27; object" in answer
    assert 'href="#c-2"' in answer


def test_what_stopped_a_call_is_said(erin: Client, case: Case) -> None:
    where = ask(erin, case)
    work(Answer(CallOutcome.TIMED_OUT, detail="it did not end within its time", suspicious=("odd",)))
    answer = fragment(erin, where)

    assert all(
        words in answer for words in ("timed out", "it did not end within its time", "Suspicious: odd")
    )


def test_a_sandbox_that_is_not_there_says_so_and_blames_no_code(erin: Client, case: Case) -> None:
    where = ask(erin, case)
    work(SandboxUnavailable("Install bubblewrap."))
    answer = fragment(erin, where)

    assert "Install bubblewrap." in answer
    assert "says nothing about the code" in answer


@pytest.mark.parametrize("headers", [HTMX, {}])
def test_what_can_not_be_asked_comes_back_with_the_reason(
    erin: Client, case: Case, headers: dict[str, str]
) -> None:
    where = reverse("review-call", args=[case.pk])
    answer = erin.post(where, {"expression": "x = reverse("}, headers=headers)
    page = answer.content.decode()

    assert answer.status_code == 422
    assert "Python can&#x27;t read it" in page
    assert headers or 'value="x = reverse("' in page
    assert not CallRequest.objects.exists()


def test_without_javascript_a_page_of_its_own_has_code_field_and_answers(erin: Client, case: Case) -> None:
    where = ask(erin, case)
    assert 'http-equiv="refresh"' in erin.get(where).content.decode()
    work(returned())
    page = erin.get(where).content.decode()

    assert "refresh" not in page
    assert 'value="reverse([1, 2])"' in page
    assert 'id="c-2"' in page
    assert "Back to the pair" in page


def test_calls_made_so_far_are_there_when_one_comes_back(erin: Client, case: Case) -> None:
    for expression in ("reverse([])", "reverse([7])"):
        ask(erin, case, expression)
        work(returned())
    for name in ("review-case", "case"):
        page = erin.get(reverse(name, args=[case.pk])).content.decode()
        assert page.index('data-call="reverse([7])"') < page.index('data-call="reverse([])"')


def test_a_draft_is_in_the_field(erin: Client, case: Case) -> None:
    sent = {"field": "call", "text": "reverse([8"}
    assert erin.post(reverse("review-draft", args=[case.pk]), sent).status_code == 204

    assert 'value="reverse([8"' in erin.get(reverse("review-case", args=[case.pk])).content.decode()
    assert drafts.load_drafts(factories.erin(), case.pair_id)[Draft.Field.CALL].text == "reverse([8"


def test_hostile_values_stay_text(erin: Client, case: Case) -> None:
    where = ask(erin, case, HOSTILE)
    work(returned(HOSTILE, HOSTILE, stdout=HOSTILE))
    for page in (fragment(erin, where), erin.get(where).content.decode()):
        assert "<script>alert" not in page
        assert "⟨U+202E⟩" in page


def test_readers_have_no_box_and_nobody_sees_anothers_call(erin: Client, ray: Client, case: Case) -> None:
    where = ask(erin, case)
    assert "call-expression" not in ray.get(reverse("case", args=[case.pk])).content.decode()
    assert ray.get(where).status_code == 403

    factories.person("eve", Role.EXPERT)
    eve = Client()
    eve.force_login(factories.person("eve"))
    assert eve.get(where).status_code == 404


def test_a_get_asks_nothing(erin: Client, case: Case) -> None:
    answer = erin.get(reverse("review-call", args=[case.pk]))

    assert answer["Location"] == reverse("review-case", args=[case.pk])
    assert not CallRequest.objects.exists()


def test_too_many_waiting_calls_are_refused_in_words(erin: Client, case: Case) -> None:
    for number in range(5):
        calls.request_candidate_call(factories.erin(), case, str(number))
    answer = erin.post(reverse("review-call", args=[case.pk]), {"expression": "6"}, headers=HTMX)

    assert answer.status_code == 422
    assert "of your calls are waiting" in answer.content.decode()


def test_workers_elsewhere_are_woken_at_once(
    case: Case, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    woken: list[dict[str, object]] = []
    monkeypatch.setattr(
        celery_tasks.drain_interactive, "apply_async", lambda **options: woken.append(options)
    )
    client = logged_in("erin")
    ask(client, case, "1")
    assert woken == []

    settings.CELERY_BROKER_URL = "redis://elsewhere"
    ask(client, case, "2")
    assert woken == [{"expires": celery_tasks.EXPIRES_SECONDS, "retry": False}]


def test_a_broker_that_is_gone_loses_no_call(
    erin: Client, case: Case, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    def gone(**options: object) -> None:
        raise OperationalError("no route")

    settings.CELERY_BROKER_URL = "redis://elsewhere"
    monkeypatch.setattr(celery_tasks.drain_interactive, "apply_async", gone)
    ask(erin, case)
    assert CallRequest.objects.get().is_open
