"""The papers' tables of systems next to the figures of a leaderboard: for its page and its exports."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from annotation.studies.report.table import Cell, Table
from retrieval.evaluation.leaderboard import Leaderboard
from retrieval.evaluation.systems.paper_results import LANGUAGES, REPORTED_TABLES, ReportedTable

OTHER: Final = "Another benchmark: the numbers are not comparable as they are"


@dataclass(frozen=True, slots=True)
class ReportedView:
    """A table as the page shows it: numbers with the digits that the paper prints."""

    key: str
    title: str
    note: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def build_reported_tables(board: Leaderboard) -> tuple[Table, ...]:
    """Each table of which a metric is measured here: as reported, and ours of a system of that name.

    A table by language is one for each metric.
    """
    return tuple(table for reported in REPORTED_TABLES for table in _tables_of(reported, board))


def _tables_of(reported: ReportedTable, board: Leaderboard) -> Iterator[Table]:
    measured = {name.partition(":")[0]: name for name in reversed(board.metrics)}
    metrics = {name: measured[name] for name in reported.metrics if name in measured}
    title = f"As reported: {reported.where}"
    note = f"{OTHER}: {reported.left_open}."
    if not reported.by_language:
        if metrics:
            columns = [*(f"{name}, as reported" for name in metrics), *(f"{name}, here" for name in metrics)]
            rows = (
                (row.name, *(row.figures[name] for name in metrics), *our_means(board, row.like, metrics))
                for row in reported.rows
            )
            yield Table(f"reported-{reported.key}", title, ("system", *columns), tuple(rows), note)
        return
    for name, ours in metrics.items():
        rows = (
            (row.name, *row.languages[name], *our_means(board, row.like, {name: ours}))
            for row in reported.rows
        )
        columns = [*(f"{language}, as reported" for language in LANGUAGES), f"{ours}, here"]
        key = f"reported-{reported.key}-{name.replace('_', '-')}"
        yield Table(key, f"{title}, {name}", ("system", *columns), tuple(rows), note)


def our_means(board: Leaderboard, like: str, metrics: Mapping[str, str]) -> tuple[Cell, ...]:
    """Our means of the system that is called so and searched whole snippets; None where there is none."""
    whole = (standing for standing in board.standings if standing.run.text_option in ("", "whole"))
    figures = {standing.run.system: standing.figures for standing in whole}.get(like, {})
    found = (figures.get(name) for name in metrics.values())
    return tuple(None if figure is None else figure.value for figure in found)


def view_reported_tables(tables: Iterable[Table]) -> tuple[ReportedView, ...]:
    """The tables in words."""
    return tuple(
        ReportedView(
            table.key,
            table.title,
            table.note,
            table.columns,
            tuple(tuple(map(format_printed, row)) for row in table.rows),
        )
        for table in tables
    )


def format_printed(cell: Cell) -> str:
    """`0.230`, `0.6409`: three digits, four where the paper prints four; a dash for none."""
    if cell is None:
        return "–"
    if not isinstance(cell, float):
        return str(cell)
    return f"{cell:.3f}" if round(cell, 3) == cell else f"{cell:.4f}"
