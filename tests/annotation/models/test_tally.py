"""After any legal sequence of moves, failures, crashes and retries a build's totals are what the rows say."""

from __future__ import annotations

import io
import json
from collections import Counter
from collections.abc import Callable
from datetime import timedelta
from decimal import Decimal
from random import Random
from typing import Any
from unittest import mock

import pytest
from django.db import transaction
from django.db.models import Sum
from django.utils import timezone
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from annotation.builds.control.pause_resume import retry_abandoned
from annotation.builds.limits import budget
from annotation.builds.pipeline import claims, file_exchange
from annotation.builds.pipeline.advance import Tools, advance_case
from annotation.builds.pipeline.execution import SandboxProvider
from annotation.llm import LLMError, Request, Waiting
from annotation.models import Abandonment, AgentBill, Build, Case, Duration, LLMCall, Price, Step, Tally
from annotation.stages import QUEUE_OF, Stage
from retrieval.models import Label
from sandbox.reports.report import Outcome
from sandbox.runner import SandboxUnavailable
from tests import factories
from tests.fakes import FakeLLM, FakeSandbox, Ran, passed

pytestmark = pytest.mark.django_db

PROGRAM = "def main():\n    assert reverse([1, 2]) == [2, 1]\n"
GOOD: dict[str, tuple[dict[str, Any], ...]] = {
    "screener": tuple({"verdict": v, "explanation": "so it seems"} for v in (0, 0.5, 0.5, 0.5, 1)),
    "test_writer": tuple(
        {"program": p, "reading": "in place", "helpers": []}
        for p in (PROGRAM, f"def reverse(x):\n    return x\n{PROGRAM}")
    ),
    "fixer": ({"commands": ["pip install six"]}, {"commands": []}, {"commands": ["rm -rf /"]}),
    "arbiter": tuple({"verdict": v, "explanation": "as it ran"} for v in (0, 1)),
}
REPORTS: tuple[Ran, ...] = (
    passed(),
    factories.a_report(Outcome.ERRORED, missing_module="six"),
    factories.a_report(Outcome.ERRORED, missing_module="no_such_module_anywhere"),
    factories.a_report(Outcome.DEPENDENCY_REFUSED),
    factories.a_report(Outcome.UNTESTED, assertions=()),
    SandboxUnavailable("none here"),
)


TROUBLES = ("", "", "", "later", "never", "stop", "wait", "bad", "killed", "bug")


class Killed(BaseException):
    """The process is gone: nothing after this line happens."""


class Walk:
    """A build whose every step is drawn by chance."""

    def __init__(self, chance: Random, cap: int | None) -> None:
        self.chance, self.calm = chance, False
        self.build = factories.opened(cap=cap, annotator=factories.annotator(second_test=True))
        llm = FakeLLM(self.answer, name="exchange")
        self.tools = Tools(
            llm_of=lambda build: llm, sandbox=SandboxProvider(lambda: FakeSandbox(self.report))
        )

    def answer(self, request: Request) -> dict[str, Any] | str:
        if not self.calm:
            trouble = self.chance.choice(
                ("", "", "", "later", "never", "stop", "wait", "bad", "killed", "bug")
            )
            match trouble:
                case "later" | "never" | "stop":
                    raise LLMError(trouble, retryable=trouble == "later", provider=trouble == "stop")
                case "wait":
                    raise Waiting(request.digest(), request.agent)
                case "killed":
                    raise Killed
                case "bug":
                    raise RuntimeError("a bug")
                case "bad":
                    return "neither yes nor no"
        return self.chance.choice(GOOD[request.agent])

    def report(self, program: object) -> Any:
        found = self.chance.choice(REPORTS[:1] if self.calm else REPORTS)
        if isinstance(found, Exception):
            raise found
        return found

    def work(self) -> None:
        for case in claims.claim_cases(self.chance.choice(("llm", "sandbox")), self.chance.choice((1, 3))):
            try:
                with self.sudden_death():
                    advance_case(case, self.tools)
            except Killed:
                return  # and with it the rest of the handful keeps its leases

    def sudden_death(self) -> Any:
        """Now and then the process dies just before or just after it books what a call gave."""

        def dying(book: Callable[..., Any]) -> Callable[..., Any]:
            def booked(*arguments: Any, **named: Any) -> Any:
                fate = 1.0 if self.calm else self.chance.random()
                if fate < 0.1:
                    raise Killed
                done = book(*arguments, **named)
                if fate < 0.2:
                    raise Killed
                return done

            return booked

        books: dict[str, Any] = {
            name: dying(getattr(budget, name))
            for name in ("settle_call", "fail_call_attempt", "park_reserved_call")
        }
        return mock.patch.multiple(budget, **books)

    def time_passes(self) -> None:
        now = timezone.now()
        Case.objects.update(next_attempt_at=None)
        if self.chance.random() < 0.5:
            Case.objects.filter(lease__isnull=False).update(lease_until=now - timedelta(seconds=1))
            LLMCall.objects.filter(expires_at__isnull=False).update(expires_at=now - timedelta(seconds=1))
        claims.expire_leases(now)
        claims.free_answered()
        budget.give_up_lost()

    def reply_by_file(self) -> None:
        lines = [
            {"id": r.digest(), "reply": self.chance.choice(GOOD[r.agent])}
            | ({"usage": {"input_tokens": 5, "output_tokens": 5}} if self.chance.random() < 0.5 else {})
            for r in file_exchange.load_waiting_requests(self.build)
        ]
        file_exchange.import_replies(self.build, io.BytesIO("\n".join(map(json.dumps, lines)).encode()))

    def person_helps(self) -> None:
        Tally.objects.filter(cap__isnull=False).update(cap=10**9)
        Build.objects.exclude(state=Build.State.RUNNING).update(state=Build.State.RUNNING)
        retry_abandoned(self.build)

    def step(self) -> None:
        self.chance.choice((self.work, self.work, self.work, self.time_passes, self.reply_by_file))()
        if self.chance.random() < 0.1:
            self.person_helps()

    def to_its_end(self) -> None:
        """Whatever is drawn, so many turns are enough, unless a case is stuck."""
        self.calm = True
        for _ in range(400):
            if not Case.objects.exclude(stage=Stage.SETTLED).exists():
                return
            self.person_helps()
            Case.objects.update(lease_until=timezone.now() - timedelta(seconds=1))
            LLMCall.objects.filter(expires_at__isnull=False).update(expires_at=timezone.now())
            self.time_passes()
            self.reply_by_file()
            self.work()

    def check(self) -> None:
        tally = Tally.objects.get(pk=self.build.pk)
        cases = list(Case.objects.filter(build=self.build))
        stages = Counter(case.stage for case in cases)
        assert {s: getattr(tally, s) for s in Stage} == {s: stages[s] for s in Stage}
        settled = [case for case in cases if case.stage == Stage.SETTLED]
        assert tally.matches == sum(case.label == 1 for case in settled)
        labels = {(label.pair_id, label.value) for label in Label.objects.all()}
        assert labels == {(case.pair_id, case.label) for case in settled}
        in_the_air = LLMCall.objects.filter(status=LLMCall.Status.RESERVED).aggregate(n=Sum("bound"))["n"]
        assert tally.reserved == (in_the_air or 0)
        assert tally.spent == (LLMCall.objects.aggregate(n=Sum("cost"))["n"] or 0)
        executed = [
            case for case in cases if case.stage in (Stage.ARBITRATING, Stage.SETTLED) and case.program
        ]
        assert tally.ran <= tally.programs
        again = sum(case.tested_again for case in cases)
        assert tally.programs >= len(executed)
        assert tally.second_touched <= tally.second_tests <= again
        assert tally.programs >= again
        self.check_figures(tally, settled)

    def check_figures(self, tally: Tally, settled: list[Case]) -> None:
        """What the build's page tells beside the totals, recounted from steps, calls and cases."""
        steps = list(Step.objects.filter(case__build=self.build))
        events = Counter(step.event for step in steps)
        assert tally.cleared == events["match"] + events["no_match"]
        assert tally.arbitrated == events["accepted"] + events["denied"]
        counts = {"unclear": tally.unclear, "written": tally.written, "missing_module": tally.fixings}
        assert counts == {event: events[event] for event in counts}
        worked = sum(getattr(tally, f"{stage}_ms") for stage in QUEUE_OF)
        assert worked == pytest.approx(1000 * sum(step.seconds or 0 for step in steps), abs=len(steps))
        bills = {bill.agent: bill for bill in AgentBill.objects.all()}
        assert sum(bill.spent for bill in bills.values()) == tally.spent
        assert sum(bill.calls for bill in bills.values()) == tally.calls
        assert sum(bill.output_tokens for bill in bills.values()) == tally.output_tokens
        timed = Duration.objects.values_list("path").annotate(n=Sum("cases")).values_list("path", "n")
        gone = Counter((c.cause, c.left_stage) for c in Case.objects.filter(stage=Stage.ABANDONED))
        kept = Abandonment.objects.filter(cases__gt=0).values_list("cause", "left_stage", "cases")
        assert {(cause, left): cases for cause, left, cases in kept} == dict(gone)
        paths = Counter("unclear" if case.program_id else "clear" for case in settled)
        assert dict(timed) == dict(paths)


@given(chance=st.randoms(use_true_random=False), cap=st.sampled_from([None, 10_000_000, 60_000_000]))
@settings(max_examples=8, suppress_health_check=list(HealthCheck))
def test_totals_are_what_the_rows_say_and_no_case_is_stuck(chance: Random, cap: int | None) -> None:
    with transaction.atomic():
        Price.objects.create(
            model="small-model",
            effective_from=timezone.now() - timedelta(days=1),
            input=Decimal(1),
            output=Decimal(1),
        )
        walk = Walk(chance, cap)
        for _ in range(30):
            walk.step()
            walk.check()
        walk.to_its_end()
        walk.check()
        tally = Tally.objects.get(pk=walk.build.pk)
        assert (tally.reserved, tally.settled, tally.total) == (0, 9, 9)
        transaction.set_rollback(True)
