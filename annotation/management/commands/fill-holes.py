"""`manage.py fill-holes BENCHMARK --system NAME`: have unjudged results judged, and publish the outcome."""

from __future__ import annotations

import json
from typing import Any

from django.core.management.base import CommandError, CommandParser

from annotation.accounts.actors import AtShell
from annotation.builds.launch.order import LaunchRefused
from annotation.derived import unjudged_results
from annotation.derived.unjudged_results import Fill
from annotation.management import derived_options
from annotation.management.lookups import find_build
from annotation.models import Build
from annotation.web.builds.provider_form import usual_model
from retrieval.evaluation.content import NoSuchBenchmark, find_named_benchmark
from retrieval.evaluation.holes import DEPTH, NoHoles
from retrieval.evaluation.leaderboard import find_newest_runs, titles_of
from retrieval.management.light import LightCommand
from retrieval.models import Benchmark, Pool, Run
from retrieval.texts.hostile import mark_hostile_characters
from retrieval.texts.plurals import count_noun


class Command(LightCommand):
    help = (
        "Say how many of a system's first results nobody has judged, and what judging them would take; with "
        "--launch a build judges them ('cosqa serve' or 'cosqa admin work' does the work), with --experts "
        "people do, in plain review or in a study. With --publish BUILD the new labels become the "
        "benchmark's next version, by the merge rule, and every run is scored by that."
    )
    refusals = (LaunchRefused, NoHoles, NoSuchBenchmark)

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("benchmark", help="its name, or name@version")
        parser.add_argument("--system", help="as the leaderboard calls it")
        parser.add_argument("--pool", choices=Pool.values, help="default: what the benchmark says")
        parser.add_argument("--depth", type=int, default=DEPTH, help=f"first results (default {DEPTH})")
        parser.add_argument("--name", help="name of the build (default: BENCHMARK filled)")
        parser.add_argument(
            "--like", metavar="BUILD", help="judged by the settings of this build's annotator"
        )
        derived_options.add_answering(parser, default=Build.Provider.EXCHANGE.value)
        derived_options.add_decision(parser, needs_reason=False)
        parser.add_argument("--launch", action="store_true", help="launch it")
        parser.add_argument(
            "--experts",
            action="store_true",
            help="queue them for experts; no agent is asked",
        )
        parser.add_argument("--publish", metavar="BUILD", help="publish what this build said")
        parser.add_argument("--json", action="store_true", help="as JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        benchmark = find_named_benchmark(options["benchmark"])
        found = published(options["publish"]) if options["publish"] else self.filled(benchmark, options)
        self.stdout.write(json.dumps(found, indent=2) if options["json"] else found["told"])

    def filled(self, benchmark: Benchmark, options: dict[str, Any]) -> dict[str, Any]:
        fill = fill_of(benchmark, options)
        if options["experts"]:
            return queued(fill, options["reason"])
        plan = unjudged_results.plan_hole_filling(fill)
        quote, price = derived_options.quote_plan(plan)
        told = {"run": fill.run.pk, "pairs": plan.pairs, "estimate": price}
        words = f"{fill.run.title}: {price}"
        if not options["launch"]:
            return {**told, "told": f"{words}; --launch has them judged"}
        plan.refuse_bad()
        if plan.is_live:
            self.stderr.write(words, str)  # plain, and beside what --json writes
        build = derived_options.launch_plan(plan, quote, options)
        words = (
            f"build {build.name!r} judges {count_noun(plan.pairs, 'pair')}; then: --publish {build.name!r}"
        )
        return {**told, "build": build.name, "told": words}


def published(name: str) -> dict[str, Any]:
    build = find_build(name)
    made, old = (
        unjudged_results.publish_filled_benchmark(build),
        unjudged_results.filled_by(build).run.benchmark,
    )
    told = (
        f"{made}: {count_noun(made.size, 'label')}, {count_noun(made.positives, 'match', 'matches')} "
        "among them"
    )
    compare = f"'cosqa admin compare-benchmarks {old} {made}' says what changed"
    return {
        "benchmark": str(made),
        "labels": made.size,
        "matches": made.positives,
        "told": f"{told} ({compare})",
    }


def fill_of(benchmark: Benchmark, options: dict[str, Any]) -> Fill:
    return Fill(
        run=run_called(benchmark, options["pool"] or benchmark.pool, options["system"]),
        name=options["name"] or f"{benchmark} filled",
        depth=options["depth"],
        like=find_build(options["like"]) if options["like"] else None,
        provider=options["provider"],
        model=options["model"] or usual_model(options["provider"], options["recorded"]),
        recorded=options["recorded"],
        budget=derived_options.parse_dollars(options["budget"]),
        unpriced=options["unpriced"],
    )


def queued(fill: Fill, why: str) -> dict[str, Any]:
    build = unjudged_results.queue_holes_for_experts(fill, AtShell.now(), mark_hostile_characters(why))
    pairs = build.own_mining.holes.pairs
    wait = f"{count_noun(pairs, 'pair')} wait{'s' * (pairs == 1)} for experts as {build.name!r}"
    words = f"{wait}, in Review and for studies; then: --publish {build.name!r}"
    return {"run": fill.run.pk, "pairs": pairs, "build": build.name, "told": words}


def run_called(benchmark: Benchmark, pool: str, title: str | None) -> Run:
    """The run of that title; a system's name will do where only one of its text options was searched."""
    found = find_newest_runs(benchmark, pool)
    titles = titles_of(found)
    chosen = [run for run in found if titles[run.pk] == title] or [
        run for run in found if run.system == title
    ]
    if len(chosen) != 1:
        known = "; ".join(titles.values()) or "none: there is no run yet"
        raise CommandError(f"--system: choose one of {known}.")
    return chosen[0]
