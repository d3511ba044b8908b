"""`manage.py bench quality`: what annotators say of given pairs, held against a truth (docs/quality.md)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from annotation.models import Build
from annotation.quality.bench import Bench, measure_bench
from annotation.quality.ground import NothingToMeasure
from annotation.quality.inputs.annotator_choice import NoSuchAnnotator
from annotation.quality.inputs.files import BadFile, read_pairs, read_truth
from annotation.quality.inputs.pair_lookup import place_bench_pairs
from bench.quality.annotator_names import group_named
from bench.quality.plain_text import as_told
from retrieval.management.memory_limit import OutOfMemory, bound_import_memory
from retrieval.models import Collection

NAME = "quality"


def add_arguments(parser: CommandParser) -> None:
    """What the bench of quality takes beside --json."""
    group = parser.add_argument_group("quality: labels of given pairs against a truth (docs/quality.md)")
    group.add_argument("--pairs", type=Path, metavar="FILE", help="JSON Lines of id, query, code (stratum)")
    group.add_argument("--truth", type=Path, metavar="FILE", help="JSON Lines of id and label or votes")
    group.add_argument(
        "--annotators",
        nargs="+",
        metavar="WHO",
        help="builds (NAME or NAME@ROUND), hashes of annotators, files of id and label; A,B are two "
        "answerings of one annotator, CALLED=A,B names it",
    )
    group.add_argument("--queries", metavar="NAME", help="collection of the pairs' query_id")
    group.add_argument(
        "--functions", "--snippets", dest="snippets", metavar="NAME", help="collection of the pairs' code_id"
    )
    group.add_argument("--tokenizer", default="", metavar="FILE", help="a tokenizer.json that counts tokens")


def run_quality_bench(options: Mapping[str, Any]) -> str:
    """What is printed. Raises CommandError."""
    missing = [name for name in ("pairs", "truth", "annotators") if not options[name]]
    if missing:
        raise CommandError(f"bench quality needs {', '.join(f'--{name}' for name in missing)}.")
    try:
        with bound_import_memory():
            found = build_quality_bench(options)
    except (BadFile, NoSuchAnnotator, NothingToMeasure, OutOfMemory) as why:
        raise CommandError(str(why)) from why
    except OSError as why:
        raise CommandError(f"{why.filename} can't be read: {why.strerror}") from why
    return json.dumps(found.as_json(), indent=2) if options["json"] else as_told(found)


def build_quality_bench(options: Mapping[str, Any]) -> Bench:
    """The figures of the files and annotators that were named."""
    queries, snippets = (find_newest_collection(options[kind], kind) for kind in ("queries", "snippets"))
    with options["pairs"].open("rb") as stream:
        places = place_bench_pairs(
            read_pairs(stream, str(options["pairs"])), str(options["pairs"]), queries, snippets
        )
    ids = [place.pair.id for place in places]
    with options["truth"].open("rb") as stream:
        truth = read_truth(stream, str(options["truth"]), ids)
    groups = [group_named(word, Build.objects.all(), ids) for word in options["annotators"]]
    return measure_bench(places, truth, groups, options["tokenizer"])


def find_newest_collection(name: str | None, kind: str) -> Collection | None:
    """The newest version of a collection. Raises CommandError where there is none of the name."""
    if not name:
        return None
    found = Collection.objects.filter(name=name, kind=kind).order_by("-version").first()
    if found is None:
        raise CommandError(f"There is no collection of {kind} called {name!r}.")
    return found
