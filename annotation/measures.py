"""What pairs cost and how they were decided: of a canary, with intervals, and of a whole build."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from django.db.models import Q, QuerySet

from annotation.intervals import Mean, Share, bootstrap_mean
from annotation.models import Build, Canary, Case, Step, Tally
from annotation.stages import Stage

FINISHED: Final = (Stage.SETTLED, Stage.ABANDONED)
REFUSAL: Final = "(stop reason 'refusal')"
"""How the reason ends of a case that a model declined to judge."""


@dataclass(frozen=True)
class Measures:
    """How the finished pairs of a build, or of its canary, came out. Money is in nanodollars a pair.

    `unclear` is of the pairs that were screened, `executable` of those whose test program was run,
    `matches` of the settled ones; `refused` counts cases that the model declined, which are abandoned too.
    """

    finished: int
    cost: Mean | None
    unclear: Share
    executable: Share
    matches: Share
    abandoned: Share
    refused: Share


@dataclass(frozen=True)
class Projection:
    """What all pairs will cost at the canary's cost a pair, in nanodollars; `cap` is None without one."""

    total: Mean
    pairs: int
    cap: int | None

    @property
    def verdict(self) -> str:
        """`under`, `over`, or `near` where the cap lies within the interval; empty without a cap."""
        if self.cap is None:
            return ""
        low, high = self.total.low, self.total.high
        if self.cap < (self.total.value if low is None else low):
            return "over"
        return "near" if self.cap < (self.total.value if high is None else high) else "under"


def cases_of(canary: Canary) -> QuerySet[Case]:
    """The canary's cases, first round."""
    build = canary.build
    return Case.objects.filter(
        build=build, candidate__in=canary.drawn, annotator_id=build.annotator_id, round=1
    )


def of_canary(canary: Canary, spent: int) -> Measures:
    """The canary's measures; `spent` is what the build had paid for it, in nanodollars.

    Its pairs are a simple random sample of the build's, so the pair is the unit, also where several belong
    to one query: it costs what all of its rounds cost, and was decided as its first round was.
    """
    rows = list(cases_of(canary).filter(stage__in=FINISHED).select_related("execution"))
    settled = [case for case in rows if case.stage == Stage.SETTLED]
    screened = [case for case in rows if case.left != Stage.SCREENING]
    run = [case.execution for case in settled if case.execution]
    return Measures(
        finished=len(rows),
        cost=bootstrap_mean(costs(canary.build, rows, spent), canary.seed) if rows else None,
        unclear=Share(sum(is_unclear(case) for case in screened), len(screened)),
        executable=Share(sum(execution.ran for execution in run), len(run)),
        matches=Share(sum(case.label == 1 for case in settled), len(settled)),
        abandoned=Share(len(rows) - len(settled), len(rows)),
        refused=Share(sum(REFUSAL in case.reason for case in rows), len(rows)),
    )


def is_unclear(case: Case) -> bool:
    """Whether a finished case went on to a test, or was given up while its test was to be written."""
    return case.program_id is not None or case.left not in {"", Stage.SCREENING}


def costs(build: Build, cases: Sequence[Case], spent: int) -> list[float]:
    """What the pair of each case cost in all of its rounds, in nanodollars; they add up to `spent`.

    What no step names (replies that could not be used, calls that were lost) is spread over all of them, in
    proportion. What another build had paid for costs nothing here.
    """
    own = dict.fromkeys((case.candidate_id for case in cases), 0.0)
    asked = Step.objects.filter(case__build=build, case__candidate__in=own, call__build=build).order_by("pk")
    # A call that served several cases was paid once.
    rows = asked.values_list("call", "case__candidate", "call__cost")
    paid = {call: (candidate, cost) for call, candidate, cost in rows}
    for candidate, cost in paid.values():
        own[candidate] += cost
    named = sum(own.values())
    if not named:
        return [spent / len(cases)] * len(cases)
    return [cost * spent / named for cost in own.values()]


def of_build(build: Build) -> Measures:
    """A finished build's measures, of all its cases: its cost a pair is a fact, and has no interval."""
    tally = build.tally
    finished = tally.settled + tally.abandoned
    cases = Case.objects.filter(build=build)
    unscreened = cases.filter(stage=Stage.ABANDONED, left=Stage.SCREENING).count()
    beyond = Q(program__isnull=False) | (Q(stage=Stage.ABANDONED) & ~Q(left=Stage.SCREENING))
    refused = cases.filter(stage=Stage.ABANDONED, reason__contains=REFUSAL)
    return Measures(
        finished=finished,
        cost=Mean(build.rounds * tally.spent / finished) if finished else None,
        unclear=Share(cases.filter(beyond, stage__in=FINISHED).count(), finished - unscreened),
        executable=Share(tally.ran, tally.programs),
        matches=Share(tally.matches, tally.settled),
        abandoned=Share(tally.abandoned, finished),
        refused=Share(refused.count() if tally.abandoned else 0, finished),
    )


def projection(canary: Canary, cost: Mean, tally: Tally) -> Projection:
    return Projection(total=cost.times(canary.pairs), pairs=canary.pairs, cap=tally.cap)


def last_finished(builds: QuerySet[Build], before: Build) -> Build | None:
    """The one of `builds` that was done last, rather one of the same model; None where there is none."""
    done = builds.filter(state=Build.State.DONE).exclude(pk=before.pk).filter(tally__settled__gt=0)
    newest = done.select_related("tally").order_by("-finished_at")
    return newest.filter(model=before.model).first() or newest.first()
