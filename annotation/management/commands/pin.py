"""`manage.py pin`: keep figures that will be cited, with all that is needed to compute them again."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from annotation.models import Study
from annotation.pages.corpus import NoSuchCorpus, called
from annotation.pages.corpus_pins import pin_corpus
from annotation.pinning import NothingToPin, pin_leaderboard, pin_study
from retrieval.evaluation.content import NoSuchBenchmark, named
from retrieval.models import Benchmark, Collection, Pin, Pool


class Command(BaseCommand):
    help = (
        "Pin the figures of a benchmark's leaderboard, of a study or of a corpus, and print the pin's name. "
        "'manage.py reproduce NAME' computes them again and says whether they are equal."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        what = parser.add_mutually_exclusive_group(required=True)
        what.add_argument("--benchmark", metavar="NAME", help="its name, or name@version")
        what.add_argument("--study", metavar="NAME")
        what.add_argument(
            "--corpus",
            nargs=2,
            metavar=("build|benchmark|collection", "NAME"),
            help="corpus statistics; a collection is named as 'manage.py corpus' does",
        )
        what.add_argument("--list", action="store_true", help="list all pins, the newest first")
        parser.add_argument("--metric", default="", help="order the leaderboard by it (default: as its page)")
        parser.add_argument("--pool", choices=Pool.values, default="", help="default: the benchmark's")
        parser.add_argument(
            "--kind", choices=Collection.Kind.values, default="snippets", help="of the collection"
        )
        parser.add_argument(
            "--matches",
            default="",
            metavar="FEWEST[-MOST]",
            help="only queries with so many matches, such as 1-1 or 5",
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
        if options["corpus"]:
            of, name = options["corpus"]
            return pin_corpus(of, called(of, name, options["kind"]))
        return pin_study(study_of(options["study"]))

    def board(self, options: dict[str, Any]) -> Pin:
        fewest, most = range_of(options["matches"])
        benchmark = benchmark_of(options["benchmark"])
        return pin_leaderboard(benchmark, options["pool"], options["metric"], fewest, most)

    def list(self) -> None:
        for pin in Pin.objects.order_by("-pk").iterator():
            self.stdout.write(f"{pin.name}  {pin.created_at:%Y-%m-%d %H:%M}  {pin.kind}  {pin.title}")


def benchmark_of(name: str) -> Benchmark:
    try:
        return named(name)
    except NoSuchBenchmark as why:
        raise CommandError(str(why)) from why


def study_of(name: str) -> Study:
    found = Study.objects.filter(name=name).first()
    if found is None:
        names = ", ".join(Study.objects.order_by("name").values_list("name", flat=True)[:20]) or "none"
        raise CommandError(f"There is no study {name!r}; there are: {names}.")
    return found


def range_of(text: str) -> tuple[int, int | None]:
    """`2-4` as both ends, `5` as five and more."""
    fewest, dash, most = text.partition("-")
    if not text:
        return 1, None
    if not (fewest.isdecimal() and (most.isdecimal() or not dash) and len(text) < 20):
        raise CommandError("--matches takes numbers, such as 5 (five and more), 1-1 or 2-4.")
    return int(fewest), int(most) if dash else None
