"""One request that never works, while others do: it is given up. An outage gives up nothing."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import timedelta

import pytest
from django.utils import timezone

from annotation.abandonment import Cause
from annotation.builds.control.pause_resume import Action, control_build
from annotation.builds.limits import poison_requests
from annotation.builds.pipeline.advance import USUAL_WAIT, Tools
from annotation.jobs import worker
from annotation.llm import LLMError, Request
from annotation.models import Build, Case, LLMCall, Tally
from annotation.stages import Stage
from tests import factories
from tests.fakes import FakeLLM

pytestmark = pytest.mark.django_db

Make = Callable[..., tuple[Tools, FakeLLM]]
YES = {"verdict": 1, "explanation": "plain to see"}
BROKEN = LLMError("the provider reports an error (HTTP 500, model m): boom", retryable=True, status=500)
SILENT = LLMError("no answer from here (APITimeoutError)", retryable=True, maybe_billed=True)
POISON = "parse an iso date"


def poisoned(error: LLMError) -> Callable[[Request], Mapping[str, object]]:
    """Answers everything but one query."""

    def answer(request: Request) -> Mapping[str, object]:
        if POISON in request.messages[0].text:
            raise error
        return YES

    return answer


def answered(build: Build) -> LLMCall:
    """Another question to the model, and its answer."""
    case = Case.objects.filter(build=build).select_related("build").first()
    assert case is not None
    return factories.llm_call(case, "screener", YES, provider="fake", answered_by=build.model)


def live(k: int = 1) -> Build:
    return factories.opened(k=k, provider=Build.Provider.LIVE)


def work(tools: Tools, times: int, *, dribble: bool = True) -> None:
    """So many rounds with every pause over; another question is answered in each where it shall `dribble`."""
    for _ in range(times):
        if dribble:
            answered(Build.objects.get())
        Case.objects.update(next_attempt_at=None)
        Build.objects.filter(next_probe_at__isnull=False).update(next_probe_at=timezone.now())
        worker.drain_queue("llm", tools)


def bad() -> Case:
    return Case.objects.select_related("build").get(query__head=POISON)


@pytest.mark.parametrize("error", [BROKEN, SILENT])
def test_a_request_that_never_works_while_others_do_is_abandoned(error: LLMError, tools_with: Make) -> None:
    tools, llm = tools_with(poisoned(error))
    build = live()
    work(tools, poison_requests.MOST + 4)
    build.refresh_from_db()
    case = bad()
    assert case.stage == Stage.ABANDONED
    assert "has failed" in case.reason and error.message in case.reason
    assert case.cause == Cause.FAILING
    assert build.state == Build.State.RUNNING
    tally = Tally.objects.get(build=build)
    assert (tally.settled, tally.abandoned, tally.reserved) == (2, 1, 0)
    asked = sum(POISON in call.messages[0].text for call in llm.calls)
    assert poison_requests.MOST <= asked <= poison_requests.MOST + 1


def test_pauses_grow_while_others_are_answered(tools_with: Make) -> None:
    tools, _ = tools_with(poisoned(BROKEN))
    live()
    pauses = []
    for _ in range(5):
        work(tools, 1)
        at = bad().next_attempt_at
        assert at is not None
        pauses.append((at - timezone.now()) / timedelta(seconds=USUAL_WAIT))
    assert pauses[-1] > 4 * pauses[0]


def test_the_last_request_of_a_build_is_told_from_an_outage_by_a_short_question(tools_with: Make) -> None:
    tools, _ = tools_with(poisoned(BROKEN))
    build = live()
    work(tools, poison_requests.RUN + poison_requests.MOST + 15, dribble=False)
    build.refresh_from_db()
    assert bad().stage == Stage.ABANDONED
    checks = LLMCall.objects.filter(agent=poison_requests.AGENT)
    assert poison_requests.MOST - 1 <= checks.count() <= poison_requests.MOST
    assert len({call.digest for call in checks}) == checks.count()
    events = list(build.events.order_by("pk").values_list("event", flat=True))
    assert events == ["launched", "waits for the provider", "continues by itself"]


@pytest.mark.parametrize("error", [BROKEN, SILENT])
def test_an_outage_abandons_nothing_however_long(error: LLMError, tools_with: Make) -> None:
    failures = 12 * poison_requests.MOST
    tools, llm = tools_with(YES, *[error] * failures, YES)
    build = live()
    work(tools, 2 * poison_requests.RUN, dribble=False)
    build.refresh_from_db()
    assert build.state == Build.State.WAITING
    assert not Case.objects.filter(stage=Stage.ABANDONED).exists()
    while len(llm.calls) < failures + 2:
        work(tools, 1, dribble=False)
    work(tools, 3, dribble=False)
    assert Case.objects.filter(stage=Stage.SETTLED).count() == 3


def test_a_bad_hour_in_which_many_requests_fail_abandons_nothing(tools_with: Make) -> None:
    tools, _ = tools_with(poisoned(BROKEN))
    build = live()
    for _ in range(poison_requests.MOST + 4):
        work(tools, 1)
        failed = answered(build)
        LLMCall.objects.filter(pk=failed.pk).update(status=LLMCall.Status.FAILED, error=BROKEN.message)
    assert bad().stage == Stage.SCREENING


def test_a_limit_that_is_reached_says_nothing_of_a_request(tools_with: Make) -> None:
    busy = LLMError("the limit (HTTP 429, model m): slower", retryable=True, status=429)
    tools, _ = tools_with(poisoned(busy))
    live()
    work(tools, 2 * poison_requests.MOST)
    assert bad().stage == Stage.SCREENING


def test_a_person_who_retries_it_has_it_asked_anew(tools_with: Make) -> None:
    tools, llm = tools_with(poisoned(BROKEN))
    build = live()
    work(tools, poison_requests.MOST + 4)
    assert control_build(build, Action.RETRY, factories.ada()) == 1
    before = len(llm.calls)
    work(tools, 1)
    assert (bad().stage, len(llm.calls)) == (Stage.SCREENING, before + 1)
    llm._answers.appendleft(YES)
    work(tools, 1)
    assert bad().stage == Stage.SETTLED


def test_what_a_killed_worker_left_counts_for_nothing(tools_with: Make) -> None:
    tools, _ = tools_with(poisoned(SILENT))
    live()
    work(tools, poison_requests.MOST - 1)
    LLMCall.objects.filter(status=LLMCall.Status.UNKNOWN).update(error="the worker that waited for it died")
    work(tools, 2)
    assert bad().stage == Stage.SCREENING
