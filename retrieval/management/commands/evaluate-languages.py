"""`manage.py evaluate-languages BENCHMARK`: a table of systems by the language of the functions."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from django.core.management.base import CommandParser

from retrieval.evaluation.content import NoSuchBenchmark, find_named_benchmark
from retrieval.evaluation.files import NotComparable
from retrieval.evaluation.language_scores import LanguageScores, score_languages
from retrieval.evaluation.leaderboard import find_newest_runs, titles_of
from retrieval.evaluation.systems.paper_results import LANGUAGES, REPORTED_TABLES
from retrieval.management.light import LightCommand
from retrieval.metrics.names import UnknownMeasure
from retrieval.models import Pool

MEAN = "mean"


class Command(LightCommand):
    help = (
        "A measure of every system by the language of the functions, and the mean of the languages, as "
        "CodeSearchNet's Table 4 has it. In each language the list is what was found of that language."
    )
    refusals = (NoSuchBenchmark, NotComparable, UnknownMeasure)

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("benchmark", help="its name, or name@version")
        parser.add_argument("--metric", default="ndcg_within", help="default ndcg_within")
        parser.add_argument(
            "--pool", choices=Pool.values, default=Pool.COLLECTION.value, help="default collection"
        )
        parser.add_argument("--json", action="store_true", help="as JSON, with all digits")

    def handle(self, *args: Any, **options: Any) -> None:
        runs = find_newest_runs(find_named_benchmark(options["benchmark"]), options["pool"])
        found = score_languages(runs, options["metric"])
        titles = titles_of(runs)
        names = [titles[scores.run.pk] for scores in found]
        if options["json"]:
            told = {
                name: {**scores.by_language, MEAN: scores.mean}
                for name, scores in zip(names, found, strict=True)
            }
            self.stdout.write(json.dumps(told, indent=2))
        else:
            self.stdout.write(format_language_table(names, found))
            self.stdout.write(format_reported_languages(options["metric"]), ending="")


def format_language_table(names: Sequence[str], found: Sequence[LanguageScores]) -> str:
    """A line a system, a column a language; a dash where a language has no match."""
    languages = sorted({language for scores in found for language in scores.by_language})
    width = max(map(len, (*names, "system")))
    lines = [f"{'system':{width}}" + "".join(f"{name:>12}" for name in (*languages, MEAN))]
    for name, scores in zip(names, found, strict=True):
        values = [*(scores.by_language.get(language) for language in languages), scores.mean]
        cells = ("–" if value is None else f"{value:.4f}" for value in values)
        lines.append(f"{name:{width}}" + "".join(f"{cell:>12}" for cell in cells))
    return "\n".join(lines)


def format_reported_languages(metric: str) -> str:
    """The rows that CodeSearchNet reports of the metric, under a line that says so; empty for none."""
    lines = list[str]()
    for table in REPORTED_TABLES:
        rows = [row for row in table.rows if metric in row.languages]
        if rows:
            width = max(len(row.name) for row in rows)
            lines += ["", f"as reported: {table.where} ({table.left_open})"]
            lines.append(f"{'system':{width}}" + "".join(f"{name:>12}" for name in LANGUAGES))
        for row in rows:
            cells = "".join(f"{value:>12.4f}" for value in row.languages[metric])
            lines.append(f"{row.name:{width}}{cells}")
    return "".join(f"{line}\n" for line in lines)
