"""Do systems and groups of queries agree by a metric? Means by number of matches, and what they come to.

As in CoSQA+'s first version (RQ4): groups of queries by their number of matches are the subjects of
Cronbach's alpha, systems its items.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Final

import numpy as np

from retrieval.evaluation.leaderboard import MOST_RUNS, Leaderboard, Queries, digests_of, kept_by
from retrieval.evaluation.runs.system_run import by_matches, code_version
from retrieval.metrics.reliability import average_variance, cronbach_alpha
from retrieval.models import KeptFigures

SMALLEST: Final = 2
"""Queries that a group needs: one query is no group."""


@dataclass(frozen=True, slots=True)
class Group:
    """Queries with one number of matches, and each system's mean over them, in the board's order."""

    matches: int
    queries: int
    means: Sequence[float]


@dataclass(frozen=True, slots=True)
class Reliability:
    """`alpha` None: fewer than two systems or groups, or groups that do not differ; `variance` likewise."""

    metric: str
    groups: Sequence[Group]
    alpha: float | None
    variance: float | None


def reliability_of(board: Leaderboard, queries: Queries) -> Reliability | None:
    """Of the board's metric and its `queries`, kept; None without a system that has it."""
    ordered = board.ordered[:MOST_RUNS]
    if not ordered:
        return None
    digests = digests_of(ordered)
    key = kept_by(
        board.benchmark,
        reliability=[digests[run.pk][board.metric] for run in ordered],
        queries=asdict(queries),
    )
    data = KeptFigures.objects.once(board.benchmark, key, code_version(), lambda: _groups(board))
    groups = [Group(*row) for row in data]
    table = np.array([group.means for group in groups]).reshape(len(groups), len(ordered)).T
    return Reliability(board.metric, groups, cronbach_alpha(table), average_variance(table))


def _groups(board: Leaderboard) -> list[tuple[int, int, list[float]]]:
    matches = board.benchmark.match_counts[board.chosen]
    tables = [by_matches(values[board.chosen], matches) for values in board.values(MOST_RUNS)]
    return [
        (number, tables[0][number].queries, [table[number].value or 0.0 for table in tables])
        for number in tables[0]
        if tables[0][number].queries >= SMALLEST
    ]
