"""The page that lays two versions of a benchmark beside each other."""

from __future__ import annotations

from typing import Any

from django.db.models import QuerySet
from django.http import QueryDict

from annotation.studies.plan.plan import StudyRefused
from annotation.studies.plan.seals import refuse_unscored_labels
from annotation.web.benchmarks.page import MOST_BENCHMARKS
from annotation.web.shared.pagination import whole_number
from retrieval.evaluation.robustness.version_comparison import compare_benchmarks
from retrieval.metrics.resampling import FEW
from retrieval.models import Benchmark


def versions_page(benchmark: Benchmark, visible: QuerySet[Benchmark], params: QueryDict) -> dict[str, Any]:
    """`with` names the earlier one: by default the version before, else nothing is compared.

    `following` is the next version, whose page compares the two in the order in which they came; `pairs` are
    those whose labels are shown.
    """
    others = list(visible.exclude(pk=benchmark.pk).defer("matches")[:MOST_BENCHMARKS])
    others.sort(key=lambda other: (other.name != benchmark.name, other.name, -other.version))
    same = [other for other in others if other.name == benchmark.name]
    before = [other for other in same if other.version < benchmark.version]
    later = [other for other in same if other.version > benchmark.version]
    wanted = whole_number(params.get("with", ""))
    other = next((other for other in others if other.pk == wanted), before[0] if before else None)
    problem = problem_of(other, benchmark) if other else ""
    found = None
    if other is not None and not problem:
        found = compare_benchmarks(other, benchmark, params.get("metric", ""), wait=False)
    return {
        "benchmark": benchmark,
        "others": others,
        "other": other,
        "found": found,
        "problem": problem,
        "few": FEW,
        "following": min(later, key=lambda other: other.version, default=None),
        "pairs": [pair.pk for change in (found.changes if found else ()) for pair in change.examples],
    }


def problem_of(first: Benchmark, second: Benchmark) -> str:
    """Why the two are not compared; empty where they are."""
    try:
        refuse_unscored_labels(first, second)
    except StudyRefused as why:
        return str(why)
    return ""
