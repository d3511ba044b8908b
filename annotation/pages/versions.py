"""The page that lays two versions of a benchmark beside each other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.db.models import QuerySet
from django.http import QueryDict

from annotation.pages.benchmarks import MOST_BENCHMARKS
from annotation.pages.paging import whole_number
from retrieval.evaluation.comparing import Comparison, compare
from retrieval.models import Benchmark


@dataclass(frozen=True, slots=True)
class VersionsPage:
    """`found` is None while there is no other benchmark to choose, or none was chosen."""

    benchmark: Benchmark
    others: Sequence[Benchmark]
    other: Benchmark | None
    found: Comparison | None

    @property
    def pairs(self) -> list[int]:
        """The pairs whose labels are shown."""
        changes = self.found.changes if self.found else ()
        return [pair.pk for change in changes for pair in change.examples]


def versions_page(benchmark: Benchmark, visible: QuerySet[Benchmark], params: QueryDict) -> VersionsPage:
    """`with` names the earlier one: by default the version before, else nothing is compared."""
    others = list(visible.exclude(pk=benchmark.pk).defer("matches")[:MOST_BENCHMARKS])
    others.sort(key=lambda one: (one.name != benchmark.name, one.name, -one.version))
    wanted = whole_number(params.get("with", ""))
    before = [one for one in others if one.name == benchmark.name and one.version < benchmark.version]
    other = next((one for one in others if one.pk == wanted), before[0] if before else None)
    found = compare(other, benchmark, params.get("metric", ""), wait=False) if other else None
    return VersionsPage(benchmark, others, other, found)
