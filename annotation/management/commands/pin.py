"""`manage.py pin leaderboard|study …`: keep a figure with all that is needed to compute it again."""

from __future__ import annotations

import json
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from annotation.models import Study
from annotation.pinning import pin_run, pin_study
from annotation.studies.figures import NoFigures
from retrieval.evaluation.content import NoSuchBenchmark, named
from retrieval.evaluation.leaderboard import leaderboard
from retrieval.evaluation.pinned import NotPinned
from retrieval.management.commands.leaderboard import queries_of
from retrieval.models import Pin, Pool, Run


class Command(BaseCommand):
    help = (
        "Pin a figure of a leaderboard or a study: it is kept with hashes, options, seeds and versions, and "
        "'manage.py reproduce PIN' computes it again."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        kinds = parser.add_subparsers(dest="kind", required=True, parser_class=type(parser))
        board = kinds.add_parser("leaderboard", help="a system's metric on a benchmark")
        board.add_argument("benchmark", help="its name, or name@version")
        board.add_argument("--system", required=True, help="as the leaderboard calls it")
        board.add_argument("--metric", default="", help="default: by which the leaderboard is ordered")
        board.add_argument("--pool", choices=Pool.values, help="default: what the benchmark says")
        board.add_argument("--matches", default="", metavar="FEWEST[-MOST]", help="only such queries")
        study = kinds.add_parser("study", help="a cell of a study's tables")
        study.add_argument("study", help="its name")
        study.add_argument("--table", default="main", help="key of the table (default main)")
        study.add_argument("--row", required=True, help="first cell of the row")
        study.add_argument("--column", required=True, help="for example Accuracy")
        for each in (board, study):
            each.add_argument("--json", action="store_true", help="the whole pin as JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            pin = of_board(options) if options["kind"] == "leaderboard" else of_study(options)
        except (NoFigures, NoSuchBenchmark, NotPinned) as why:
            raise CommandError(str(why)) from why
        self.stdout.write(json.dumps(as_json(pin), indent=2) if options["json"] else told(pin))


def of_board(options: dict[str, Any]) -> Pin:
    benchmark, queries = named(options["benchmark"]), queries_of(options["matches"])
    board = leaderboard(
        benchmark, options["pool"] or benchmark.pool, options["metric"], queries.fewest, queries.most
    )
    runs: dict[str, Run] = {one.run.title: one.run for one in board.standings}
    if options["system"] not in runs:
        raise CommandError(
            f"No system is called {options['system']!r}; there are {', '.join(runs) or 'none'}."
        )
    return pin_run(runs[options["system"]], options["metric"] or board.metric, queries)


def of_study(options: dict[str, Any]) -> Pin:
    study = Study.objects.filter(name=options["study"]).first()
    if study is None:
        raise CommandError(f"There is no study called {options['study']!r}.")
    return pin_study(study, options["table"], options["row"], options["column"])


def as_json(pin: Pin) -> dict[str, Any]:
    names = ("name", "kind", "title", "subject", "value", "ground", "digest")
    return {name: getattr(pin, name) for name in names}


def told(pin: Pin) -> str:
    value = pin.value.get("value")
    return f"{pin.name}: {pin.title} = {value} ('manage.py reproduce {pin.name}' computes it again)"
