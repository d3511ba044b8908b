"""The page that lays two versions of a benchmark beside each other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.db.models import QuerySet
from django.http import QueryDict

from annotation.pages.benchmarks import MOST_BENCHMARKS
from annotation.pages.paging import whole_number
from annotation.studies.planning import StudyRefused
from annotation.studies.sealing import refuse_unscored_labels
from retrieval.evaluation.comparing import Comparison, compare
from retrieval.metrics.resampling import FEW
from retrieval.models import Benchmark


@dataclass(frozen=True, slots=True)
class VersionsPage:
    """`found` is None while there is no other benchmark to choose, or none was chosen, or there is a
    `problem`.
    """

    benchmark: Benchmark
    others: Sequence[Benchmark]
    other: Benchmark | None
    found: Comparison | None
    problem: str = ""
    few: int = FEW

    @property
    def pairs(self) -> list[int]:
        """The pairs whose labels are shown."""
        changes = self.found.changes if self.found else ()
        return [pair.pk for change in changes for pair in change.examples]

    @property
    def following(self) -> Benchmark | None:
        """The next version of the benchmark, whose page compares the two in the order in which they came."""
        here = self.benchmark
        later = [one for one in self.others if one.name == here.name and one.version > here.version]
        return min(later, key=lambda one: one.version, default=None)


def versions_page(benchmark: Benchmark, visible: QuerySet[Benchmark], params: QueryDict) -> VersionsPage:
    """`with` names the earlier one: by default the version before, else nothing is compared."""
    others = list(visible.exclude(pk=benchmark.pk).defer("matches")[:MOST_BENCHMARKS])
    others.sort(key=lambda one: (one.name != benchmark.name, one.name, -one.version))
    wanted = whole_number(params.get("with", ""))
    before = [one for one in others if one.name == benchmark.name and one.version < benchmark.version]
    other = next((one for one in others if one.pk == wanted), before[0] if before else None)
    problem = problem_of(other, benchmark) if other else ""
    if other is None or problem:
        return VersionsPage(benchmark, others, other, None, problem)
    found = compare(other, benchmark, params.get("metric", ""), wait=False)
    return VersionsPage(benchmark, others, other, found)


def problem_of(first: Benchmark, second: Benchmark) -> str:
    """Why the two are not compared; empty where they are."""
    try:
        refuse_unscored_labels(first, second)
    except StudyRefused as why:
        return str(why)
    return ""
