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

PAPER: Final = (2, 5)
"""Numbers of matches of the groups in RQ4 of CoSQA+'s first version: one match is left out."""
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
    return measure_groups(board.metric, [Group(*row) for row in data])


def narrow_groups(found: Reliability, fewest: int, most: int) -> Reliability:
    """The same of the groups with so many matches alone."""
    groups = [group for group in found.groups if fewest <= group.matches <= most]
    return measure_groups(found.metric, groups)


def measure_groups(metric: str, groups: Sequence[Group]) -> Reliability:
    """What groups of queries come to; each has a mean of the same systems."""
    table = np.array([group.means for group in groups])
    table = table.reshape(len(groups), table.shape[1] if groups else 0).T
    return Reliability(metric, groups, cronbach_alpha(table), average_variance(table))


def _groups(board: Leaderboard) -> list[tuple[int, int, list[float]]]:
    matches = board.benchmark.match_counts[board.chosen]
    tables = [by_matches(values[board.chosen], matches) for values in board.values(MOST_RUNS)]
    return [
        (number, tables[0][number].queries, [table[number].value or 0.0 for table in tables])
        for number in tables[0]
        if tables[0][number].queries >= SMALLEST
    ]
