"""`manage.py evaluate-files --qrels FILE --run FILE --metrics …`: score a run without a database."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from retrieval.evaluation.files import Evaluation, NotComparable, evaluate_files
from retrieval.management.light import LightCommand
from retrieval.metrics.names import UnknownMeasure, describe_measure_names, parse_measures
from retrieval.sources.readers.lines import Malformed
from retrieval.texts.plurals import count_noun, verb_for_count

DEFAULT = "ndcg@10,mrr@10,map@10,mmrr,recall@100"


class Command(LightCommand):
    reads_foreign_files = True
    help = (
        "Score a run against judgements, both files; no database is needed. Judgements are TREC qrels (query "
        "iteration document relevance), BEIR's (columns query-id, corpus-id, score) or CodeSearchNet's "
        "annotations (CSV: Language,Query,GitHubUrl,Relevance). A run is TREC's (query Q0 document rank "
        "score tag; ties in score by rank, then by document) or CodeSearchNet's predictions (CSV: "
        "language,query,url in the order of the results). Either may be JSON in a file called so: {query: "
        "{document: number}}. A "
        "document is a match where its relevance is above 0. Judged queries without results score 0; queries "
        "without a match are skipped and counted."
    )
    requires_system_checks = []
    refusals = (Malformed, NotComparable, UnknownMeasure)

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--qrels", type=Path, required=True, help="file of judgements, also packed")
        parser.add_argument("--run", type=Path, required=True, help="file of ranked lists, also packed")
        parser.add_argument(
            "--metrics",
            default=DEFAULT,
            help=f"names with commas between them, out of {describe_measure_names()}. ndcg has gain "
            "2^relevance - 1, "
            "ndcg_linear the relevance itself; without @k there is no cut-off (mmrr: 1,000; ndcg_within and "
            f"ndcg_all: 300). docs/metrics.md has the formulas. Default: {DEFAULT}",
        )
        parser.add_argument(
            "--groups",
            type=Path,
            help="lines `document group`: which documents are near-duplicates, for distinct_matches@k; a "
            "document without a line is a group of its own",
        )
        parser.add_argument("--language", help="only the rows of this language, in files that have one")
        parser.add_argument("--json", action="store_true", help="as JSON, with all digits")

    def handle(self, *args: Any, **options: Any) -> None:
        wanted = parse_measures(options["metrics"].split(","))
        paths = options["qrels"], options["run"]
        found = evaluate_files(*paths, wanted, options["language"], options["groups"])
        self.stdout.write(json.dumps(as_json(found), indent=2) if options["json"] else told(found))


def as_json(found: Evaluation) -> dict[str, Any]:
    """The means by name, null where no query has a match, and under `queries` how many there were."""
    counts = {
        "scored": found.scored,
        "without_match": found.without_match,
        "without_results": found.without_results,
        "not_judged": found.not_judged,
    }
    return {name: mean.value for name, mean in found.averages.items()} | {"queries": counts}


def told(found: Evaluation) -> str:
    width = max(len(name) for name in found.averages)
    rows = [
        f"{name:{width}}  {'undefined' if mean.value is None else f'{mean.value:.4f}'}"
        for name, mean in found.averages.items()
    ]
    without = count_noun(found.without_match, "judged query", "judged queries")
    counts = [
        (
            f"mean over {count_noun(found.scored, 'query', 'queries')}, {found.without_results:,} "
            "without results"
        ),
        f"{without} without a match {verb_for_count(found.without_match)} skipped",
        (
            f"{count_noun(found.not_judged, 'query', 'queries')} of the run "
            f"{verb_for_count(found.not_judged)} not judged"
        ),
    ]
    return "\n".join([*rows, *counts])
