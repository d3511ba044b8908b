"""The rounds of a build beside each other: what each said and took, how far they agree, where they part.

"Could not judge" is a missing value, never "no match": a pair counts with the rounds that judged it, and for
agreement not at all with fewer than two of them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, cast

import numpy as np
from django.core.cache import cache
from django.db.models import Count, F, Max, Min, Q, QuerySet, Sum
from numpy.typing import NDArray

from annotation.models import Build, Case, LLMCall, Step
from annotation.stages import Stage
from annotation.stats.agreement.figures import Figure
from annotation.stats.agreement.reliability import alpha_from_sums, alpha_unit_terms
from annotation.stats.agreement.sample import Draws
from annotation.stats.agreement.statistic import Statistic, measure_statistics, share_of
from retrieval.metrics.resampling import FEW

CHUNK: Final = 2000
KEPT_SECONDS: Final = 3600
NOTHING: Final = {"calls": 0, "cost": 0}
TESTED: Final = Q(program__isnull=False) | (Q(stage=Stage.ABANDONED) & ~Q(left_stage=Stage.SCREENING))
"""Finished cases that the screener could not judge, and one model alone never has."""


@dataclass(frozen=True, slots=True)
class RoundVerdicts:
    """What the rounds of one pair said; those that are neither did not judge it."""

    matches: int
    no_matches: int
    rounds: int

    @property
    def judged(self) -> int:
        return self.matches + self.no_matches

    @property
    def unjudged(self) -> int:
        return self.rounds - self.judged

    @property
    def parts(self) -> bool:
        """Whether two rounds gave it different labels."""
        return bool(self.matches and self.no_matches)


@dataclass(frozen=True, slots=True)
class Round:
    """One round's cases, and what the calls took that their steps rest on, whoever paid. Nanodollars."""

    number: int
    cases: int
    settled: int
    matches: int
    abandoned: int
    screened: int
    unclear: int
    calls: int
    cost: int


@dataclass(frozen=True, slots=True)
class Agreement:
    """How far rounds agree over the pairs that at least two of them judged.

    `alike` is the share of those to which all rounds that judged gave one label; `queries` have such pairs.
    """

    pairs: int
    queries: int
    alpha: Figure
    alike: Figure

    @property
    def few_queries(self) -> bool:
        """Whether the intervals are too short."""
        return self.queries < FEW


@dataclass(frozen=True, slots=True)
class Rounds:
    """Everything that a build's rounds say; `said` counts pairs by what their rounds said."""

    rounds: tuple[Round, ...]
    said: Mapping[RoundVerdicts, int]
    agreement: Agreement | None

    @property
    def pairs(self) -> int:
        return sum(self.said.values())

    @property
    def parted(self) -> int:
        """Pairs to which two rounds gave different labels."""
        return sum(pairs for said, pairs in self.said.items() if said.parts)


def rounds_of(build: Build) -> Rounds:
    """The build's rounds as they are now; kept until the build changes."""
    key = f"rounds:{build.pk}.{build.created_at:%s%f}.{build.tally.version}"
    return cast(Rounds, cache.get_or_set(key, partial(read_rounds, build), KEPT_SECONDS))


def read_rounds(build: Build) -> Rounds:
    said, clusters = count_round_verdicts(build)
    return Rounds(rounds_told(build), said, agreement_of(clusters))


def count_round_verdicts(build: Build) -> tuple[Mapping[RoundVerdicts, int], list[tuple[float, ...]]]:
    """Pairs by what was said of them, and the sums of each query for `agreement_of`. One query, streamed."""
    rows = by_pair(Case.objects.filter(build=build), "query", "matches", "no_matches")
    counts: Counter[RoundVerdicts] = Counter()
    clusters: dict[int, NDArray[np.float64]] = {}
    for (query, matches, no_matches), pairs in Counter(rows.iterator(CHUNK)).items():
        said = RoundVerdicts(matches, no_matches, build.rounds)
        counts[said] += pairs
        if said.judged > 1:
            sums = np.array([*alpha_unit_terms((matches, no_matches)), not said.parts, 1.0])
            clusters[query] = clusters.get(query, 0.0) + pairs * sums
    return counts, [tuple(row) for _, row in sorted(clusters.items())]


def by_pair(cases: QuerySet[Case], *columns: str) -> QuerySet[Case, tuple[Any, ...]]:
    """Columns of each candidate: `query`, `pair`, and how many rounds said so: `matches`, `no_matches`."""
    grouped = cases.order_by().values("query", "candidate", "pair")
    counted = grouped.annotate(
        matches=Count("pk", filter=Q(label=1)), no_matches=Count("pk", filter=Q(label=0))
    )
    return counted.values_list(*columns)


def agreement_of(clusters: list[tuple[float, ...]]) -> Agreement | None:
    """From one row a query: what `unit` adds up to, pairs with one label, pairs. None where there is none."""
    if not clusters:
        return None
    sums = np.array(clusters)
    alike = share_of(sums[:, 3:], pairs=float(sums[:, 4].sum()))
    statistics = {"alpha": Statistic(sums[:, :3], alpha_from_sums), "alike": alike}
    figures = {
        name: statistic.figure
        for name, statistic in measure_statistics(Draws.even(len(sums)), statistics).items()
    }
    return Agreement(pairs=int(sums[:, 4].sum()), queries=len(sums), **figures)


def rounds_told(build: Build) -> tuple[Round, ...]:
    """What each round's cases came to. One query, and one a round."""
    finished = Q(stage__in=[Stage.SETTLED, Stage.ABANDONED])
    counts = {
        "cases": Count("pk"),
        "settled": Count("pk", filter=Q(stage=Stage.SETTLED)),
        "matches": Count("pk", filter=Q(label=1)),
        "abandoned": Count("pk", filter=Q(stage=Stage.ABANDONED)),
        "screened": Count("pk", filter=finished & ~Q(left_stage=Stage.SCREENING)),
        "unclear": Count("pk", filter=finished & TESTED),
    }
    cases = Case.objects.filter(build=build).values("round").annotate(**counts).order_by("round")
    spent = spent_of(build)
    rows: Iterable[dict[str, int]] = cases.values("round", *counts)
    return tuple(
        Round(**{name: row[name] for name in counts}, number=row["round"], **spent.get(row["round"], NOTHING))
        for row in rows
    )


def spent_of(build: Build) -> dict[int, dict[str, int]]:
    """Calls and their cost by round; a call that served several cases counts once."""
    steps = Step.objects.filter(case__build=build, call__isnull=False).order_by()
    pairs = steps.values("case__round", "call").distinct()
    found: dict[int, dict[str, int]] = {}
    for number in range(1, build.rounds + 1):
        calls = LLMCall.objects.filter(pk__in=pairs.filter(case__round=number).values("call"))
        told = calls.aggregate(calls=Count("pk"), cost=Sum("cost"))
        found[number] = {"calls": told["calls"], "cost": told["cost"] or 0}
    return found


def find_disagreeing_cases(build: Build) -> QuerySet[Case]:
    """The first round's cases of the pairs to which two rounds gave different labels, by query and rank."""
    if build.rounds == 1:
        return Case.objects.none()
    said = Case.objects.filter(build=build, label__isnull=False).order_by().values("candidate")
    both = said.annotate(low=Min("label"), high=Max("label")).filter(low__lt=F("high"))
    rows = Case.objects.filter(build=build, round=1, candidate__in=both.values("candidate"))
    return rows.order_by("query_id", "rank", "id")


def load_rounds_by_candidate(cases: Sequence[Case]) -> dict[int, list[Case]]:
    """All rounds of these cases of one build, in order, by candidate. One query."""
    found: dict[int, list[Case]] = {case.candidate_id: [] for case in cases}
    same = Case.objects.filter(build__in={case.build_id for case in cases}, candidate__in=found)
    for case in same.order_by("round"):
        found[case.candidate_id].append(case)
    return found
