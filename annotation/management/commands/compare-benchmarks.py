"""`manage.py compare-benchmarks FIRST SECOND`: which labels changed, and what that does to systems."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

from django.core.management.base import CommandParser

from annotation.studies.plan.plan import StudyRefused
from annotation.studies.plan.seals import refuse_unscored_labels
from retrieval.evaluation.content import NoSuchBenchmark, find_named_benchmark
from retrieval.evaluation.robustness.version_comparison import (
    BenchmarkComparison,
    Change,
    NotOneVersion,
    compare_benchmarks,
    refuse_another,
)
from retrieval.management.light import LightCommand
from retrieval.metrics.resampling import FEW, FEW_TOLD


class Command(LightCommand):
    help = (
        "Compare two versions of a benchmark: labels that became another one, the systems' scores under both "
        "on the queries that have a match in both, and Kendall's tau of their orders."
    )
    refusals = (NoSuchBenchmark, NotOneVersion, StudyRefused)

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("first", help="name or name@version")
        parser.add_argument("second", help="the same")
        parser.add_argument("--metric", default="", help="by which the systems are measured")
        parser.add_argument("--json", action="store_true", help="as JSON, with all digits")

    def handle(self, *args: Any, **options: Any) -> None:
        first, second = find_named_benchmark(options["first"]), find_named_benchmark(options["second"])
        refuse_unscored_labels(first, second)
        found = compare_benchmarks(first, second, options["metric"])
        refuse_another(found, options["metric"])
        self.stdout.write(json.dumps(as_json(found), indent=2) if options["json"] else told(found))


def as_json(found: BenchmarkComparison) -> dict[str, Any]:
    return {
        "first": str(found.first),
        "second": str(found.second),
        "pool": found.second.pool,
        "labels": {change.said: change.pairs for change in found.changes} | {"unchanged": found.unchanged},
        "examples": {change.said: examples(change) for change in found.changes if change.pairs},
        "queries": dict(zip(("first", "second", "common"), found.queries, strict=True)),
        "metric": found.metric or None,
        "systems": {system.system: asdict(system) for system in found.systems},
        "kendall_tau": found.tau,
    }


def examples(change: Change) -> list[dict[str, str]]:
    return [{"query": pair.query.head, "snippet": pair.snippet.head} for pair in change.examples]


def told(found: BenchmarkComparison) -> str:
    lines = [f"{found.first} → {found.second}: {found.unchanged:,} labels are the same"]
    for change in found.changes:
        if change.pairs:
            lines.append(f"  {change.said}: {change.pairs:,}")
            lines += [
                f"    {example['query'][:60]} | {first_line(example['snippet'])}"
                for example in examples(change)[:3]
            ]
    old, new, common = found.queries
    lines.append(f"queries with a match: {old:,} and {new:,}, in both {common:,}")
    if found.systems:
        lines.append(f"searched: {found.second.get_pool_display()}")
    if found.systems and 1 < common < FEW:
        lines.append(FEW_TOLD)
    for system in found.systems:
        ends = f" [{system.interval.low:+.4f}, {system.interval.high:+.4f}]" if system.interval else ""
        lists = "" if system.same_lists else "; each version's own lists"
        lines.append(
            f"  {system.system}: {found.metric} {system.first:.4f} → {system.second:.4f}, "
            f"{system.difference:+.4f}{ends}{lists}"
        )
    lines.append("Kendall's tau: " + ("undefined" if found.tau is None else f"{found.tau:.3f}"))
    return "\n".join(lines)


def first_line(text: str) -> str:
    return text.partition("\n")[0][:60]
