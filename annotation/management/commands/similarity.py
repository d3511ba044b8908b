"""`manage.py similarity BENCHMARK`: labels by code similarity, and the benchmark under these labels."""

from __future__ import annotations

import json
from typing import Any

from django.core.management.base import CommandError, CommandParser

from annotation.derived.similarity.judge import (
    LANGUAGES,
    MOST_DEPTH,
    NotComparable,
    SimilarityChoice,
    judge_similarity,
)
from annotation.derived.similarity.publication import publish_similarity_benchmark, refuse_benchmark
from annotation.management.given_options import find_newest_collection
from retrieval.evaluation.content import NoSuchBenchmark, find_named_benchmark
from retrieval.management.bars import open_bar
from retrieval.management.light import LightCommand
from retrieval.models import Collection
from retrieval.sources.code.aroma import THRESHOLD


class Command(LightCommand):
    help = (
        "Judge a benchmark's labelled pairs and the first results of its runs by how similar their code is "
        "to known answers (Aroma's features), and publish NAME-similarity under these labels. The labels "
        "are an annotator's of its own; code that can't be compared is not judged."
    )
    refusals = (NotComparable, NoSuchBenchmark)

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("benchmark", help="its name, or name@version")
        parser.add_argument(
            "--answers",
            metavar="COLLECTION",
            help="functions whose source ids are those of the queries, as 'import ncs --answers' makes them "
            "(default: the benchmark's matches)",
        )
        parser.add_argument(
            "--language", choices=LANGUAGES, default="python", help="of the code (default %(default)s)"
        )
        parser.add_argument(
            "--threshold",
            type=float,
            default=THRESHOLD,
            help="from which similarity on a function is a match (default %(default)s)",
        )
        parser.add_argument(
            "--depth", type=int, default=10, help="results of each run that are judged (default %(default)s)"
        )
        parser.add_argument("--json", action="store_true", help="print one JSON object")

    def handle(self, *args: Any, **options: Any) -> None:
        benchmark = find_named_benchmark(options["benchmark"])
        refuse_benchmark(benchmark)
        choice = read_choice(options)
        with open_bar(unit=" pairs", desc="comparing code") as bar:

            def tick(done: int, total: int) -> None:
                bar.total = total
                bar.update(done - bar.n)

            judged = judge_similarity(benchmark, choice, tick)
        made = publish_similarity_benchmark(benchmark, choice, judged)
        if not options["json"]:
            self.stdout.write(f"{made}, annotator {judged.annotator.version[:8]}: {made.notes}")
            return
        found = {
            "benchmark": str(made),
            "annotator": judged.annotator.version,
            "matches": judged.labels[1],
            "no_matches": judged.labels[0],
            "unjudged": {reason.value: count for reason, count in judged.unjudged.items()},
        }
        self.stdout.write(json.dumps(found))


def read_choice(options: dict[str, Any]) -> SimilarityChoice:
    """How to judge. Raises CommandError."""
    if not 0 < options["threshold"] <= 1:
        raise CommandError("--threshold is above 0 and at most 1.")
    if not 0 <= options["depth"] <= MOST_DEPTH:
        raise CommandError(f"--depth is 0 to {MOST_DEPTH}.")
    named = options["answers"]
    answers = find_newest_collection(named, Collection.Kind.SNIPPETS) if named else None
    return SimilarityChoice(options["language"], options["threshold"], options["depth"], answers)
