"""`manage.py ncs-report SCORE_SHEET`: Answered@k and MRR of the systems in NCS's score sheet."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from retrieval.management.light import LightCommand
from retrieval.metrics.ncs import CUTS, Summary, summarize_first_ranks
from retrieval.sources.formats.ncs import read_score_sheet
from retrieval.sources.readers.lines import Malformed


class Command(LightCommand):
    reads_foreign_files = True
    help = (
        "Answered@1, @5, @10 (numbers of questions) and MRR of each system in a score sheet of the Neural "
        "Code Search Evaluation Dataset: CSV with a column 'SYSTEM FRank' for each system; NF is not found "
        "and counts 0. MRR is over all questions. No database is needed."
    )
    requires_system_checks = []
    refusals = (Malformed,)

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("score_sheet", type=Path, help="CSV file of first ranks")
        parser.add_argument("--json", action="store_true", help="as JSON, with all digits")

    def handle(self, *args: Any, **options: Any) -> None:
        ranks = read_score_sheet(options["score_sheet"])
        found = {system: summarize_first_ranks(first_ranks) for system, first_ranks in ranks.items()}
        self.stdout.write(json.dumps(as_json(found), indent=2) if options["json"] else told(found))


def as_json(found: dict[str, Summary]) -> dict[str, dict[str, float | None]]:
    return {
        system: {f"answered@{k}": each.answered[k] for k in CUTS} | {"mrr": each.mrr}
        for system, each in found.items()
    }


def told(found: dict[str, Summary]) -> str:
    width = max(len(system) for system in (*found, "system"))
    lines = [f"{'system':{width}}" + "".join(f"{f'answered@{k}':>13}" for k in CUTS) + f"{'MRR':>8}"]
    for system, each in found.items():
        counts = "".join(f"{each.answered[k]:>13,}" for k in CUTS)
        lines.append(f"{system:{width}}{counts}{each.mrr or 0:>8.4f}")
    return "\n".join([*lines, f"{next(iter(found.values())).questions:,} questions"])
