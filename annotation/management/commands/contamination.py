"""`manage.py contamination BENCHMARK --table FILE`: which of its texts are in training data."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from annotation.management.commands.corpus import format_corpus_table
from annotation.studies.report.formats import as_csv, format_table_json
from annotation.web.benchmarks.contamination import tables_of
from retrieval.evaluation.content import NoSuchBenchmark, find_named_benchmark
from retrieval.management.light import LightCommand
from retrieval.models import Collection
from retrieval.sources.code.places import is_path
from retrieval.training.contamination import (
    NoTrainingTexts,
    TrainingTexts,
    measure_contamination,
    read_code_texts,
    read_collection_texts,
    read_table_texts,
)
from retrieval.training.contamination_job import count_contamination

FORMATS = {".csv": as_csv, ".json": format_table_json}


class Command(LightCommand):
    help = (
        "Say which judged queries and functions of a benchmark are in training data: the same text, or near "
        "the same. Joins are exact, so nothing is missed by chance."
    )
    refusals = (NoSuchBenchmark, NoTrainingTexts)
    reads_foreign_files = True

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("benchmark", help="its name, or name@version")
        where = parser.add_mutually_exclusive_group(required=True)
        where.add_argument("--collection", metavar="NAME", help="stored queries and functions of this name")
        where.add_argument(
            "--table", type=Path, metavar="FILE", help="CSV, JSON, JSON Lines or Parquet with queries or code"
        )
        where.add_argument(
            "--code",
            metavar="PLACE",
            help="Python code: a file, folder, package (.whl, .zip, .tar.gz), git+REPOSITORY, or stdlib",
        )
        parser.add_argument("--out", type=Path, metavar="FILE", help="write all rows: .csv or .json")
        parser.add_argument("--json", action="store_true", help="print the numbers as JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        out = options["out"]
        if out is not None and out.suffix not in FORMATS:
            raise CommandError(f"--out {out}: name a file that ends with .csv or .json.")
        benchmark = find_named_benchmark(options["benchmark"])
        name, learned = read_training_texts(options)
        found = measure_contamination(benchmark, learned)
        shares, rows = tables_of(benchmark, name, found)
        if out is not None:
            try:
                out.write_text(FORMATS[out.suffix](rows), "utf-8", newline="")
            except OSError as error:
                raise CommandError(f"--out {out}: {error.strerror or error}.") from error
        if options["json"]:
            self.stdout.write(
                json.dumps({"benchmark": str(benchmark), "in": name, **count_contamination(found)})
            )
        else:
            self.stdout.write(format_corpus_table(shares))


def read_training_texts(options: dict[str, Any]) -> tuple[str, TrainingTexts]:
    """What was named, and its texts. Raises CommandError and `NoTrainingTexts`."""
    if name := options["collection"]:
        newest = [
            found
            for kind in Collection.Kind.values
            if (found := Collection.objects.filter(name=name, kind=kind).order_by("-version").first())
        ]
        if not newest:
            raise CommandError(f"There is no collection called {name!r}.")
        parts = [read_collection_texts(found) for found in newest]
        queries = [told for part in parts for told in part.queries]
        return name, TrainingTexts(queries, [told for part in parts for told in part.functions])
    place = options["table"] or options["code"]
    if (options["table"] or is_path(place)) and not Path(place).exists():
        raise CommandError(f"There is no {place}.")
    return str(place), read_table_texts(place) if options["table"] else read_code_texts(place)
