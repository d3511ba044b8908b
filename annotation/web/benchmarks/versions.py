"""The page that lays two versions of a benchmark beside each other."""

from __future__ import annotations

from typing import Any

from django.db.models import QuerySet
from django.http import QueryDict

from annotation.stats.agreement.figures import Figure
from annotation.studies.plan.plan import StudyRefused
from annotation.studies.plan.seals import refuse_unscored_labels
from annotation.studies.report.table import Table
from annotation.web.benchmarks.page import MOST_BENCHMARKS
from annotation.web.shared.downloads import list_table_files
from annotation.web.shared.pagination import whole_number
from retrieval.evaluation.robustness.version_comparison import BenchmarkComparison, compare_benchmarks
from retrieval.metrics.resampling import FEW
from retrieval.models import Benchmark
from retrieval.texts.plurals import count_noun


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
    tables = build_version_tables(found) if found else ()
    return {
        "tables": tables,
        "files": list_table_files(tables, params),
        "benchmark": benchmark,
        "others": others,
        "other": other,
        "found": found,
        "problem": problem,
        "few": FEW,
        "following": min(later, key=lambda other: other.version, default=None),
        "pairs": [pair.pk for change in (found.changes if found else ()) for pair in change.examples],
    }


def build_version_tables(found: BenchmarkComparison) -> tuple[Table, ...]:
    """What became of labels, and of the systems, as a paper prints it."""
    of = f"From {found.first} to {found.second}."
    changes = ((change.said, change.pairs) for change in found.changes)
    labels = Table("changes", "Labels that changed", ("Change", "Pairs"), tuple(changes), of)
    if not found.systems:
        return (labels,)
    tau = "undefined" if found.tau is None else f"{found.tau:.3f}"
    note = (
        f"{of} Means by {found.metric} over {count_noun(found.queries[2], 'query', 'queries')} with a match "
        f"in both; 95 % intervals, queries resampled. Kendall’s tau of the two rankings: {tau}."
    )
    rows = tuple(
        (
            moved.system,
            moved.first,
            moved.second,
            Figure(
                moved.difference,
                moved.interval.low if moved.interval else None,
                moved.interval.high if moved.interval else None,
                queries=found.queries[2],
            ),
            "the same" if moved.same_lists else "each version’s own",
        )
        for moved in found.systems
    )
    columns = ("System", "Before", "After", "Difference", "Ranked lists")
    return (labels, Table("systems", "Systems on both versions", columns, rows, note, charted="Difference"))


def problem_of(first: Benchmark, second: Benchmark) -> str:
    """Why the two are not compared; empty where they are."""
    try:
        refuse_unscored_labels(first, second)
    except StudyRefused as why:
        return str(why)
    return ""
