"""What commands take of given pairs: `--pairs BENCHMARK|FILE`, and the collections of a file's ids."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any, Final

from django.core.management.base import CommandError, CommandParser

from annotation.derived.derivation import CHOICES, Who
from retrieval.evaluation.content import NoSuchBenchmark, find_named_benchmark
from retrieval.given_pairs import NoPairs, Read, Wanted, of_benchmark, of_file
from retrieval.management.memory_limit import bound_import_memory
from retrieval.models import Collection
from retrieval.texts.hostile import mark_hostile_characters

PROBLEMS_SHOWN: Final = 20


def add_arguments(parser: CommandParser) -> None:
    parser.add_argument(
        "--pairs",
        metavar="BENCHMARK|FILE",
        help="judge these pairs, and mine nothing: those that a benchmark labels (NAME or NAME@VERSION), or "
        "that a .jsonl, .json, .csv or .tsv file lists: query and code, or ids of members of --queries and "
        "--functions; a label, if there is one, is audited",
    )
    parser.add_argument(
        "--skip-bad-rows", action="store_true", help="leave out rows of the file that can't be read"
    )


def parse_annotator_names(told: str) -> Who:
    """Annotators after commas, each once."""
    try:
        return Who.named([name.strip() for name in told.split(",") if name.strip()])
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"choose from {', '.join(CHOICES)}, not {told!r}") from error


def refuse_mined(options: dict[str, Any]) -> None:
    """Raises CommandError where a mining lacks what it searches."""
    needed = {"--queries": "queries", "--functions": "snippets"}
    missing = [name for name, option in needed.items() if not options[option]]
    if missing:
        raise CommandError(f"A build needs {' and '.join(missing)}, or given pairs (--pairs).")


def load_given_pairs(options: dict[str, Any]) -> Read:
    """The list that --pairs names: a benchmark by its name, else a file. Raises CommandError."""
    path = Path(options["pairs"])
    try:
        return Read(of_benchmark(find_named_benchmark(options["pairs"])))
    except NoSuchBenchmark as why:
        if not path.is_file():
            raise CommandError(f"--pairs: there is no such file. {why}") from why
    try:
        with bound_import_memory():
            return of_file(wanted_of(options, path))
    except NoPairs as why:
        lines = [str(problem) for problem in why.problems[:PROBLEMS_SHOWN]]
        hint = (
            ["--skip-bad-rows leaves them out."] if len(why.problems) and not options["skip_bad_rows"] else []
        )
        raise CommandError("\n".join([*lines, str(why), *hint])) from why


def wanted_of(options: dict[str, Any], path: Path) -> Wanted:
    names = options["queries"], options["snippets"]
    if bool(names[0]) != bool(names[1]):
        raise CommandError("Name both --queries and --functions, or neither.")
    queries, snippets = (
        find_newest_collection(name, kind) if name else None
        for name, kind in zip(names, (Collection.Kind.QUERIES, Collection.Kind.SNIPPETS), strict=True)
    )
    return Wanted(
        path,
        mark_hostile_characters(options["name"]).strip(),
        queries,
        snippets,
        skip_bad=options["skip_bad_rows"],
    )


def find_newest_collection(name: str, kind: str) -> Collection:
    """The newest version of the collection."""
    row = Collection.objects.filter(name=name, kind=kind).order_by("-version").first()
    if row is None:
        known = ", ".join(Collection.objects.filter(kind=kind).values_list("name", flat=True)) or "none yet"
        raise CommandError(
            f"There is no collection of {Collection.Kind(kind).noun} called {name!r}; there are: {known}."
        )
    return row
