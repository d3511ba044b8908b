"""What pairs cost and how they were decided: of a canary, with intervals, and of a whole build."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from django.db.models import Q, QuerySet

from annotation.builds.limits.canary import by_query
from annotation.models import Build, Canary, Case, Step, Tally
from annotation.stages import Stage
from annotation.stats.agreement.query_clusters import clustered_share
from annotation.stats.intervals import Mean, Share, bootstrap_mean, bootstrap_ratio

FINISHED: Final = (Stage.SETTLED, Stage.ABANDONED)
REFUSAL: Final = "(stop reason 'refusal')"
"""How the reason ends of a case that a model declined to judge."""
OF_CANARY: Final[Mapping[str, Q]] = {
    "drawn": Q(),
    "finished": Q(stage__in=FINISHED),
    "refused": Q(stage__in=FINISHED, reason__contains=REFUSAL),
}
"""Which cases of a canary are wanted, where no other filter of the list of cases says it."""


SHARES: Final = ("unclear", "executable", "matches", "abandoned", "refused")


@dataclass(frozen=True)
class Measures:
    """How the finished pairs of a build, or of its canary, came out. Money is in nanodollars a pair.

    `unclear` is of the pairs that were screened, `executable` of those whose test program was run,
    `matches` of the settled ones; `refused` counts cases that the model declined, which are abandoned too.
    `units`: how many independent draws the intervals rest on, pairs or whole queries.
    """

    finished: int
    units: int
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
    return Case.objects.filter(drawn_for(canary), build=canary.build_id)


def drawn_for(canary: Canary, *which: Q) -> Q:
    """Which cases of the build are the canary's, in their first round; of those, `which`."""
    annotator = canary.build.annotator_id
    return Q(*which, candidate__in=canary.drawn, annotator=annotator, round=1)


def of_canary(canary: Canary, spent: int) -> Measures:
    """The canary's measures; `spent` is what the build had paid for it, in nanodollars.

    Its pairs are a simple random sample of the build's, so the pair is the unit, also where several belong
    to one query; where queries were drawn whole, the query is. A pair costs what all of its rounds cost, and
    was decided as its first round was.
    """
    rows = list(cases_of(canary).filter(stage__in=FINISHED).select_related("execution"))
    settled = [case for case in rows if case.stage == Stage.SETTLED]
    screened = [case for case in rows if case.left_stage != Stage.SCREENING]
    run = [case for case in settled if case.execution]
    share = partial(share_of, canary)
    return Measures(
        finished=len(rows),
        units=len({case.query_id for case in rows}) if by_query(canary.build) else len(rows),
        cost=cost_of(canary, rows, spent) if rows else None,
        unclear=share(screened, is_unclear),
        executable=share(run, lambda case: case.execution is not None and case.execution.ran),
        matches=share(settled, lambda case: case.label == 1),
        abandoned=share(rows, lambda case: case.stage == Stage.ABANDONED),
        refused=share(rows, lambda case: REFUSAL in case.reason),
    )


def share_of(canary: Canary, cases: Sequence[Case], counts: Callable[[Case], bool]) -> Share:
    """The share of `cases` that count, with an interval by what was drawn."""
    if not by_query(canary.build):
        return Share(sum(map(counts, cases)), len(cases))
    said = defaultdict[int, list[bool]](list)
    for case in cases:
        said[case.query_id].append(counts(case))
    return clustered_share([(sum(one), len(one)) for one in said.values()], canary.seed)


def cost_of(canary: Canary, cases: Sequence[Case], spent: int) -> Mean:
    """The cost a pair, in nanodollars, with an interval by what was drawn."""
    each = compute_case_costs(canary.build, cases, spent)
    if not by_query(canary.build):
        return bootstrap_mean(each, canary.seed)
    queries = defaultdict[int, list[float]](list)
    for case, cost in zip(cases, each, strict=True):
        queries[case.query_id].append(cost)
    parts, wholes = [sum(query) for query in queries.values()], [len(query) for query in queries.values()]
    between = bootstrap_ratio(parts, wholes, canary.seed) or (None, None)
    return Mean(sum(parts) / sum(wholes), *between)


def is_unclear(case: Case) -> bool:
    """Whether a finished case went on to a test, or was given up while its test was to be written."""
    return case.program_id is not None or case.left_stage not in {"", Stage.SCREENING}


def compute_case_costs(build: Build, cases: Sequence[Case], spent: int) -> list[float]:
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
    unscreened = cases.filter(stage=Stage.ABANDONED, left_stage=Stage.SCREENING).count()
    beyond = Q(program__isnull=False) | (Q(stage=Stage.ABANDONED) & ~Q(left_stage=Stage.SCREENING))
    refused = cases.filter(stage=Stage.ABANDONED, reason__contains=REFUSAL)
    return Measures(
        finished=finished,
        units=finished,
        cost=Mean(build.rounds * tally.spent / finished) if finished else None,
        unclear=Share(cases.filter(beyond, stage__in=FINISHED).count(), finished - unscreened),
        executable=Share(tally.ran, tally.programs),
        matches=Share(tally.matches, tally.settled),
        abandoned=Share(tally.abandoned, finished),
        refused=Share(refused.count() if tally.abandoned else 0, finished),
    )


def project_from_canary(canary: Canary, cost: Mean, tally: Tally) -> Projection:
    """Of an extension the new pairs, and what the cap had left for them."""
    cap = None if tally.cap is None else max(0, tally.cap - canary.began)
    return Projection(total=cost.times(canary.pairs), pairs=canary.pairs, cap=cap)


def to_json(found: Measures) -> dict[str, Any]:
    """A whole build's measures, to be kept."""
    shares = {name: (getattr(found, name).part, getattr(found, name).whole) for name in SHARES}
    return {"finished": found.finished, "cost": found.cost and found.cost.value, "shares": shares}


def from_json(kept: Mapping[str, Any]) -> Measures:
    """What `to_json` kept."""
    cost = None if kept["cost"] is None else Mean(kept["cost"])
    shares = {name: Share(*kept["shares"][name]) for name in SHARES}
    return Measures(finished=kept["finished"], units=kept["finished"], cost=cost, **shares)


def last_finished(builds: QuerySet[Build], before: Build) -> Build | None:
    """The one of `builds` that was done last, rather one of the same model; None where there is none."""
    done = builds.filter(state=Build.State.DONE).exclude(pk=before.pk).filter(tally__settled__gt=0)
    newest = done.select_related("tally").order_by("-finished_at")
    return newest.filter(model=before.model).first() or newest.first()
