"""`manage.py fill-holes BENCHMARK --system NAME`: have unjudged results judged, and publish the outcome."""

from __future__ import annotations

import json
from decimal import Decimal, InvalidOperation
from typing import Any

from django.core.management.base import CommandError, CommandParser

from annotation import holes
from annotation.actors import AtShell
from annotation.estimating.confirming import in_words, signed
from annotation.holes import Fill
from annotation.launching import LaunchRefused
from annotation.management import agreeing
from annotation.models import Build
from annotation.pages.answering import usual_model
from annotation.tools import counter
from retrieval.counting import counted
from retrieval.evaluation.content import NoSuchBenchmark, named
from retrieval.evaluation.holes import DEPTH, NoHoles
from retrieval.evaluation.leaderboard import newest, titles_of
from retrieval.hostile import clean
from retrieval.management.light import LightCommand
from retrieval.models import Benchmark, Pool, Run


class Command(LightCommand):
    help = (
        "Say how many of a system's first results nobody has judged, and what judging them would take; with "
        "--launch a build judges them ('manage.py serve' or 'work' does the work), with --experts people do, "
        "in plain review or in a study. With --publish BUILD what was said becomes the benchmark's next "
        "version, by the merge rule, and every run is scored by that."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("benchmark", help="its name, or name@version")
        parser.add_argument("--system", help="as the leaderboard calls it")
        parser.add_argument("--pool", choices=Pool.values, help="default: what the benchmark says")
        parser.add_argument("--depth", type=int, default=DEPTH, help=f"first results (default {DEPTH})")
        parser.add_argument("--name", help="name of the build (default: BENCHMARK filled)")
        parser.add_argument(
            "--like", metavar="BUILD", help="judged by the settings of this build's annotator"
        )
        parser.add_argument(
            "--provider",
            choices=Build.Provider.values,
            default=Build.Provider.EXCHANGE.value,
            help="who answers",
        )
        parser.add_argument("--model", default="", help="that the agents ask")
        parser.add_argument("--recorded", default="", metavar="FILE", help="recorded replies")
        parser.add_argument("--budget", metavar="DOLLARS", help="the build pauses before it would spend more")
        parser.add_argument("--unpriced", action="store_true", help="ask a model without a price")
        parser.add_argument("--why", default="", help="why it is launched; kept in its history")
        parser.add_argument("--launch", action="store_true", help="launch it")
        agreeing.add_argument(parser)
        parser.add_argument(
            "--experts",
            action="store_true",
            help="queue them for experts; no agent is asked",
        )
        parser.add_argument("--publish", metavar="BUILD", help="publish what this build said")
        parser.add_argument("--json", action="store_true", help="as JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            benchmark = named(options["benchmark"])
            found = published(options["publish"]) if options["publish"] else self.filled(benchmark, options)
        except (LaunchRefused, NoHoles, NoSuchBenchmark) as why:
            raise CommandError(str(why)) from why
        self.stdout.write(json.dumps(found, indent=2) if options["json"] else found["told"])

    def filled(self, benchmark: Benchmark, options: dict[str, Any]) -> dict[str, Any]:
        fill = fill_of(benchmark, options)
        if options["experts"]:
            return queued(fill)
        plan = holes.plan(fill)
        figures = holes.price(plan, counter(plan.order.provider, plan.order.model))
        told = {"run": fill.run.pk, "pairs": plan.pairs, "estimate": in_words(figures)}
        words = f"{fill.run.title}: {told['estimate']}"
        if not options["launch"]:
            return {**told, "told": f"{words}; --launch has them judged"}
        holes.refuse_bad(plan)
        if plan.order.provider == Build.Provider.LIVE:
            self.stderr.write(words, str)  # plain, and beside what --json writes
        agreeing.agree(plan.order.provider, options)
        word = signed(plan.order, figures, holes.about(plan))
        build = holes.launch(fill, AtShell.now(), word)
        words = f"build {build.name!r} judges {counted(plan.pairs, 'pair')}; then: --publish {build.name!r}"
        return {**told, "build": build.name, "told": words}


def published(name: str) -> dict[str, Any]:
    build = build_called(name)
    made, old = holes.publish(build), holes.filled_by(build).run.benchmark
    told = f"{made}: {counted(made.size, 'label')}, {counted(made.positives, 'match', 'matches')} among them"
    compare = f"'manage.py compare-benchmarks {old} {made}' says what changed"
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
        like=build_called(options["like"]) if options["like"] else None,
        provider=options["provider"],
        model=options["model"] or usual_model(options["provider"], options["recorded"]),
        recorded=options["recorded"],
        budget=dollars(options["budget"]),
        unpriced=options["unpriced"],
        why=clean(options["why"]),
    )


def queued(fill: Fill) -> dict[str, Any]:
    build = holes.queue(fill, AtShell.now())
    pairs = build.own_mining.holes.pairs
    wait = f"{counted(pairs, 'pair')} wait{'s' * (pairs == 1)} for experts as {build.name!r}"
    words = f"{wait}, in Review and for studies; then: --publish {build.name!r}"
    return {"run": fill.run.pk, "pairs": pairs, "build": build.name, "told": words}


def run_called(benchmark: Benchmark, pool: str, title: str | None) -> Run:
    """The run of that title; a system's name will do where only one of its text options was searched."""
    found = newest(benchmark, pool)
    titles = titles_of(found)
    chosen = [run for run in found if titles[run.pk] == title] or [
        run for run in found if run.system == title
    ]
    if len(chosen) != 1:
        known = "; ".join(titles.values()) or "none: there is no run yet"
        raise CommandError(f"--system: choose one of {known}.")
    return chosen[0]


def build_called(name: str) -> Build:
    build = Build.objects.select_related("annotator", "mining").filter(name=name).first()
    if build is None:
        raise CommandError(f"There is no build called {name!r}.")
    return build


def dollars(given: str | None) -> Decimal | None:
    try:
        return None if given is None else Decimal(given)
    except InvalidOperation as why:
        raise CommandError(f"--budget {given}: write a number of dollars.") from why
