"""`manage.py pin`: keep figures that will be cited, with all that is needed to compute them again."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.models import AnonymousUser
from django.core.management.base import CommandError, CommandParser

from annotation.management.commands.leaderboard import RANGE, queries_of, rates_of
from annotation.models import Build, Study
from annotation.pages import board
from annotation.pages.corpus import NoSuchCorpus, called
from annotation.pages.corpus_pins import pin_corpus
from annotation.pinning import (
    Errors,
    NothingToPin,
    pin_build,
    pin_comparison,
    pin_leaderboard,
    pin_mining,
    pin_study,
    pin_two_builds,
)
from retrieval.evaluation.content import NoSuchBenchmark, named
from retrieval.management.light import LightCommand
from retrieval.models import Benchmark, Collection, Mining, Pin, Pool


class Command(LightCommand):
    help = (
        "Pin the figures of a benchmark's leaderboard, of two versions of it, of a build, of two builds, of "
        "a mining, of a study or of a corpus, and print the pin's name. "
        "'manage.py reproduce NAME' computes them again and says whether they are equal."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        what = parser.add_mutually_exclusive_group(required=True)
        what.add_argument("--benchmark", metavar="NAME", help="its name, or name@version")
        what.add_argument("--study", metavar="NAME", help="its figures")
        what.add_argument(
            "--corpus",
            nargs=2,
            metavar=("build|benchmark|collection", "NAME"),
            help="corpus statistics; a collection is named as 'manage.py corpus' does",
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
            help="share of labels that are wrong, as 'manage.py leaderboard' takes it, however long its "
            "draws take (default: as the page, where that need not wait)",
        )
        parser.add_argument("--pool", choices=Pool.values, default="", help="default: the benchmark's")
        parser.add_argument(
            "--kind", choices=Collection.Kind.values, default="snippets", help="of the collection"
        )
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
        try:
            pin = self.taken(options)
        except (NoSuchCorpus, NothingToPin) as why:
            raise CommandError(str(why)) from why
        self.stdout.write(pin.name)
        self.stderr.write(f"{pin.title}; 'manage.py reproduce {pin.name}' computes it again.")

    def taken(self, options: dict[str, Any]) -> Pin:
        if options["benchmark"]:
            return self.board(options)
        if options["build"]:
            return pin_build(build_of(options["build"]))
        if options["builds"]:
            first, second = options["builds"]
            return pin_two_builds(build_of(first), build_of(second))
        if options["mining"] is not None:
            return pin_mining(mining_of(options["mining"]))
        if options["compare"]:
            first, second = (benchmark_of(name) for name in options["compare"])
            return pin_comparison(first, second, options["metric"])
        if options["corpus"]:
            of, name = options["corpus"]
            return pin_corpus(of, called(of, name, options["kind"]))
        return pin_study(study_of(options["study"]))

    def board(self, options: dict[str, Any]) -> Pin:
        queries = queries_of(options["matches"])
        benchmark = benchmark_of(options["benchmark"])
        errors = errors_of(benchmark, options["errors"])
        ends = queries.fewest, queries.most
        return pin_leaderboard(benchmark, options["pool"], options["metric"], *ends, errors=errors)

    def list(self) -> None:
        for pin in Pin.objects.order_by("-pk").iterator():
            self.stdout.write(f"{pin.name}  {pin.created_at:%Y-%m-%d %H:%M}  {pin.kind}  {pin.title}")


def benchmark_of(name: str) -> Benchmark:
    try:
        return named(name)
    except NoSuchBenchmark as why:
        raise CommandError(str(why)) from why


def errors_of(benchmark: Benchmark, given: str | None) -> Errors:
    """As the page or somebody chose it. Raises CommandError."""
    choices = board.error_choices(benchmark, AnonymousUser())
    named = [one for one in choices if one.written == given]
    if given is None or named:
        chosen = named[0] if named else board.chosen_errors(choices, "")
        return Errors(chosen.rates, chosen.study, wait=given is not None)
    return Errors(rates_of(benchmark, given), wait=True)


def build_of(name: str) -> Build:
    found = Build.objects.filter(name=name).select_related("tally", "annotator").first()
    if found is None:
        names = ", ".join(Build.objects.order_by("name").values_list("name", flat=True)[:20]) or "none"
        raise CommandError(f"There is no build {name!r}; there are: {names}.")
    return found


def mining_of(pk: int) -> Mining:
    found = Mining.objects.filter(pk=pk).select_related("queries", "snippets").first()
    if found is None:
        raise CommandError(f"There is no mining {pk}.")
    return found


def study_of(name: str) -> Study:
    found = Study.objects.filter(name=name).first()
    if found is None:
        names = ", ".join(Study.objects.order_by("name").values_list("name", flat=True)[:20]) or "none"
        raise CommandError(f"There is no study {name!r}; there are: {names}.")
    return found
