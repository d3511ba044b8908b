"""A build that asks by batch, and what workers do for it, turn by turn."""

from __future__ import annotations

from typing import Any

import pytest
from django.db.models import Sum
from django.utils import timezone

from annotation.builds.pipeline import batches, claims
from annotation.builds.pipeline.advance import Tools
from annotation.jobs import worker
from annotation.llm.batches.messages import MessageBatches
from annotation.models import Batch, Build, Case, LLMCall, ProjectTally, Tally
from tests import factories

MODEL = "some-model"
PLAIN = {"explanation": "plain to see", "verdict": 1}


class Killed(BaseException):
    """The process is gone."""


def batched(**columns: Any) -> Build:
    """A build of nine cases that asks by batch."""
    return factories.opened(provider=Build.Provider.LIVE, model=MODEL, batches=True, **columns)


def work(tools: Tools, turns: int = 100) -> None:
    """What workers do, until they find nothing, or for so many turns."""
    for _ in range(turns):
        claims.free_answered()
        Case.objects.filter(next_attempt_at__isnull=False).update(next_attempt_at=None)
        done = [worker.drain_cases("llm", tools), batches.tend_one(tools.llm_of)]
        if not any(done):
            return


def fill(tools: Tools) -> Batch:
    """The batch that all claimable cases have joined."""
    while worker.drain_cases("llm", tools):
        pass
    return Batch.objects.get(state=Batch.State.FILLING)


def tend(tools: Tools) -> None:
    """One look at what there is, whatever the time."""
    Batch.objects.filter(next_poll_at__isnull=False).update(next_poll_at=timezone.now())
    batches.tend_one(tools.llm_of)


def balanced(build: Build) -> None:
    """What is spent is what the calls cost, nothing is held, and no request has two answers."""
    tally, project = Tally.objects.get(build=build), ProjectTally.objects.now()
    costs = LLMCall.objects.aggregate(sum=Sum("cost"))["sum"]
    assert (tally.spent, tally.reserved) == (costs, 0)
    assert (project.spent, project.reserved) == (costs, 0)
    answered = LLMCall.objects.filter(status=LLMCall.Status.SUCCEEDED).values_list("digest", flat=True)
    assert len(answered) == len(set(answered))


def kill_between_create_and_store(tools: Tools, monkeypatch: pytest.MonkeyPatch) -> None:
    """The provider has the batch, and the worker dies before it has its id."""
    real = MessageBatches.create

    def killed(self: Any, requests: Any) -> Any:
        real(self, requests)
        raise Killed

    with monkeypatch.context() as patched:
        patched.setattr(MessageBatches, "create", killed)
        with pytest.raises(Killed):
            tend(tools)


def canned(body: dict[str, Any]) -> dict[str, Any]:
    wanted = str(body.get("output_config", body))
    if "program" in wanted:
        return {"reading": "reverses", "helpers": [], "program": factories.PROGRAM}
    return {"explanation": "only a run can tell", "verdict": 0.5 if "0.5" in wanted else 1}
