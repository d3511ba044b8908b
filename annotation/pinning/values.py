"""Figures as a pin holds them: plain trees that JSON can say, equal whenever the figures are."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any, Final

from annotation.studies.figures import Figures
from annotation.studies.formats import jsonable
from annotation.studies.table import Table
from annotation.studies.tables import tables
from retrieval.evaluation.leaderboard import Difference
from retrieval.evaluation.scoring import Figure
from retrieval.models import Run

STATES: Final = ("flow", "reported")
"""Tables that are no figures of the study: the flow of pairs goes on, the papers' figures are theirs."""


def board(
    figures: Mapping[Run, Mapping[str, Figure]], differences: Sequence[Difference], queries: int
) -> dict[str, Any]:
    """A leaderboard's figures. Runs go by the hash of their lists, which another database has too."""
    return {
        "queries": queries,
        "figures": {
            named(run): {name: asdict(figure) for name, figure in of_run.items()}
            for run, of_run in figures.items()
        },
        "differences": [
            {
                "better": named(one.better),
                "other": named(one.other),
                "value": one.value,
                "interval": asdict(one.interval),
                "p": one.p,
            }
            for one in differences
        ],
    }


def named(run: Run) -> str:
    """A run by its system and its lists."""
    text = f", {run.text_option}" if run.text_option else ""
    return f"{run.system}{text} [{run.digest[:12]}]"


def study(found: Figures) -> dict[str, Any]:
    """Every table of a study's page that is made of its history."""
    return trees(table for table in tables(found) if table.key not in STATES)


def trees(of: Iterable[Table]) -> dict[str, Any]:
    """Tables by their keys."""
    return {
        table.key: {
            "title": table.title,
            "columns": list(table.columns),
            "rows": [[jsonable(cell) for cell in row] for row in table.rows],
        }
        for table in of
    }
