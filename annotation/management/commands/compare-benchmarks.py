"""`manage.py compare-benchmarks FIRST SECOND`: which labels changed, and what that does to systems."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

from django.core.management.base import CommandError, CommandParser

from annotation.studies.planning import StudyRefused
from annotation.studies.sealing import refuse_unscored_labels
from retrieval.evaluation.comparing import Change, Comparison, NotOneVersion, compare, refuse_another
from retrieval.evaluation.content import NoSuchBenchmark, named
from retrieval.management.light import LightCommand
from retrieval.metrics.resampling import FEW, FEW_TOLD


class Command(LightCommand):
    help = (
        "Compare two versions of a benchmark: labels that became another one, the systems' scores under both "
        "on the queries that have a match in both, and Kendall's tau of their orders."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("first", help="name or name@version")
        parser.add_argument("second", help="the same")
        parser.add_argument("--metric", default="", help="by which the systems are measured")
        parser.add_argument("--json", action="store_true", help="as JSON, with all digits")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            first, second = named(options["first"]), named(options["second"])
            refuse_unscored_labels(first, second)
            found = compare(first, second, options["metric"])
            refuse_another(found, options["metric"])
        except (NoSuchBenchmark, NotOneVersion, StudyRefused) as why:
            raise CommandError(str(why)) from why
        self.stdout.write(json.dumps(as_json(found), indent=2) if options["json"] else told(found))


def as_json(found: Comparison) -> dict[str, Any]:
    return {
        "first": str(found.first),
        "second": str(found.second),
        "pool": found.second.pool,
        "labels": {one.said: one.pairs for one in found.changes} | {"unchanged": found.unchanged},
        "examples": {one.said: examples(one) for one in found.changes if one.pairs},
        "queries": dict(zip(("first", "second", "common"), found.queries, strict=True)),
        "metric": found.metric or None,
        "systems": {one.system: asdict(one) for one in found.systems},
        "kendall_tau": found.tau,
    }


def examples(change: Change) -> list[dict[str, str]]:
    return [{"query": pair.query.head, "snippet": pair.snippet.head} for pair in change.examples]


def told(found: Comparison) -> str:
    lines = [f"{found.first} → {found.second}: {found.unchanged:,} labels are the same"]
    for change in found.changes:
        if change.pairs:
            lines.append(f"  {change.said}: {change.pairs:,}")
            lines += [
                f"    {one['query'][:60]} | {first_line(one['snippet'])}" for one in examples(change)[:3]
            ]
    old, new, common = found.queries
    lines.append(f"queries with a match: {old:,} and {new:,}, in both {common:,}")
    if found.systems:
        lines.append(f"searched: {found.second.get_pool_display()}")
    if found.systems and 1 < common < FEW:
        lines.append(FEW_TOLD)
    for one in found.systems:
        ends = f" [{one.interval.low:+.4f}, {one.interval.high:+.4f}]" if one.interval else ""
        lists = "" if one.same_lists else "; each version's own lists"
        lines.append(
            f"  {one.system}: {found.metric} {one.first:.4f} → {one.second:.4f}, "
            f"{one.difference:+.4f}{ends}{lists}"
        )
    lines.append("Kendall's tau: " + ("undefined" if found.tau is None else f"{found.tau:.3f}"))
    return "\n".join(lines)


def first_line(text: str) -> str:
    return text.partition("\n")[0][:60]
