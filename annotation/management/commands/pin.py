"""`manage.py pin`: keep figures that will be cited, with all that is needed to compute them again."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.models import AnonymousUser
from django.core.management.base import CommandParser

from annotation.management.commands.leaderboard import RANGE, parse_match_range, rates_of
from annotation.management.lookups import find_build, find_mining, find_study
from annotation.pins import (
    Errors,
    NothingToPin,
    pin_build,
    pin_comparison,
    pin_leaderboard,
    pin_mining,
    pin_study,
    pin_two_builds,
)
from annotation.web.benchmarks import leaderboard_notes
from annotation.web.corpus.page import NoSuchCorpus, find_corpus_subject
from annotation.web.corpus.pins import pin_corpus
from retrieval.evaluation.content import NoSuchBenchmark, find_named_benchmark
from retrieval.management.light import LightCommand
from retrieval.management.options import add_kind_option
from retrieval.models import Benchmark, Pin, Pool


class Command(LightCommand):
    help = (
        "Pin the figures of a benchmark's leaderboard, of two versions of it, of a build, of two builds, of "
        "a mining, of a study or of a corpus, and print the pin's name. "
        "'cosqa admin reproduce NAME' computes them again and says whether they are equal."
    )
    refusals = (NoSuchBenchmark, NoSuchCorpus, NothingToPin)

    def add_arguments(self, parser: CommandParser) -> None:
        what = parser.add_mutually_exclusive_group(required=True)
        what.add_argument("--benchmark", metavar="NAME", help="its name, or name@version")
        what.add_argument("--study", metavar="NAME", help="its figures")
        what.add_argument(
            "--corpus",
            nargs=2,
            metavar=("build|benchmark|collection", "NAME"),
            help="corpus statistics; a collection is named as 'cosqa admin corpus' does",
        )
        what.add_argument(
            "--build", metavar="NAME", help="its funnel, executable rate, shares and cost of a pair"
        )
        what.add_argument(
            "--compare",
            nargs=2,
            metavar=("FIRST", "SECOND"),
            help="two versions of a benchmark, each as name or name@version",
        )
        what.add_argument(
            "--builds", nargs=2, metavar=("FIRST", "SECOND"), help="two builds over their common pairs"
        )
        what.add_argument(
            "--mining",
            type=int,
            metavar="ID",
            help="human matches that it found again, and the recall of an approximate index",
        )
        what.add_argument("--list", action="store_true", help="list all pins, the newest first")
        self.add_options(parser)

    def add_options(self, parser: CommandParser) -> None:
        """Which figures of what is pinned."""
        parser.add_argument(
            "--metric", default="", help="order the leaderboard, or compare, by it (default: as the page)"
        )
        parser.add_argument(
            "--errors",
            metavar="SHARE[,SHARE]",
            help="share of labels that are wrong, as 'cosqa leaderboard' takes it, however long its "
            "draws take (default: as the page, where that need not wait)",
        )
        parser.add_argument("--pool", choices=Pool.values, default="", help="default: the benchmark's")
        add_kind_option(parser, "of the collection")
        parser.add_argument(
            "--matches",
            default="",
            metavar="FEWEST[-MOST]",
            help=RANGE,
        )

    def handle(self, *args: Any, **options: Any) -> None:
        if options["list"]:
            self.list()
            return
        pin = self.taken(options)
        self.stdout.write(pin.name)
        self.stderr.write(f"{pin.title}; 'cosqa admin reproduce {pin.name}' computes it again.")

    def taken(self, options: dict[str, Any]) -> Pin:
        if options["benchmark"]:
            return self.board(options)
        if options["build"]:
            return pin_build(find_build(options["build"]))
        if options["builds"]:
            first, second = options["builds"]
            return pin_two_builds(find_build(first), find_build(second))
        if options["mining"] is not None:
            return pin_mining(find_mining(options["mining"]))
        if options["compare"]:
            first, second = (find_named_benchmark(name) for name in options["compare"])
            return pin_comparison(first, second, options["metric"])
        if options["corpus"]:
            of, name = options["corpus"]
            return pin_corpus(of, find_corpus_subject(of, name, options["kind"]))
        return pin_study(find_study(options["study"]))

    def board(self, options: dict[str, Any]) -> Pin:
        queries = parse_match_range(options["matches"])
        benchmark = find_named_benchmark(options["benchmark"])
        errors = errors_of(benchmark, options["errors"])
        ends = queries.fewest, queries.most
        return pin_leaderboard(benchmark, options["pool"], options["metric"], *ends, errors=errors)

    def list(self) -> None:
        for pin in Pin.objects.order_by("-pk").iterator():
            self.stdout.write(f"{pin.name}  {pin.created_at:%Y-%m-%d %H:%M}  {pin.kind}  {pin.title}")


def errors_of(benchmark: Benchmark, given: str | None) -> Errors:
    """As the page or somebody chose it. Raises CommandError."""
    choices = leaderboard_notes.error_choices(benchmark, AnonymousUser())
    named = [choice for choice in choices if choice.written == given]
    if given is None or named:
        chosen = named[0] if named else leaderboard_notes.chosen_errors(choices, "")
        return Errors(chosen.rates, chosen.study, wait=given is not None)
    return Errors(rates_of(benchmark, given), wait=True)
