"""Metrics that some runs of a board have and others were never asked for: not computed is not undefined."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass

from retrieval.evaluation.leaderboard import Leaderboard, SystemStanding, titles_of
from retrieval.models import Run


@dataclass(frozen=True, slots=True)
class Lacking:
    """Systems that lack the same metrics, and the command that computes these for them."""

    systems: Sequence[str]
    metrics: Sequence[str]
    command: str


def find_missing_metrics(board: Leaderboard, shown: Sequence[str]) -> list[Lacking]:
    """What of the metrics `shown` was not computed for which systems, in the board's order."""
    titles = titles_of(standing.run for standing in board.standings)
    groups = dict[tuple[tuple[str, ...], tuple[str, ...], str], list[Run]]()
    for standing in board.standings:
        if missing := tuple(name for name in shown if name not in standing.figures):
            key = missing, _wanted(board, standing, missing), standing.run.text_option
            groups.setdefault(key, []).append(standing.run)
    return [
        Lacking([titles[run.pk] for run in runs], missing, _command(board, runs, wanted, text))
        for (missing, wanted, text), runs in groups.items()
    ]


def _wanted(board: Leaderboard, one: SystemStanding, missing: Sequence[str]) -> tuple[str, ...]:
    """Those that it has too: where its lists come out otherwise now, a new run stands for the system."""
    return tuple(name for name in board.metrics if name in one.figures or name in missing)


def _command(board: Leaderboard, runs: Sequence[Run], metrics: Sequence[str], text: str) -> str:
    """`evaluate` for runs of one text option; of a run that came as a file the file has to be there."""
    names = [run.system for run in runs if run.encoders]
    files = [f"{run.system}={run.source or 'FILE'}" for run in runs if not run.encoders]
    words = ["evaluate", str(board.benchmark)]
    words += ["--encoder", *names] if names else []
    words += ["--run", *files] if files else []
    words += ["--text-option", text.replace(" ", "_")] if text else []
    words += ["--pool", runs[0].pool, "--metrics", ",".join(metrics)]
    return f"cosqa {shlex.join(words)}"
