"""A leaderboard's tables as a paper prints them: for CSV, JSON, LaTeX and SVG."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from annotation.stats.agreement.figures import RESAMPLED, Figure
from annotation.studies.report.table import Cell, Table
from annotation.web.benchmarks.reported_tables import build_reported_tables
from retrieval.evaluation.leaderboard import Leaderboard, PairedDifference, SystemStanding, titles_of
from retrieval.evaluation.query_scores import Figure as MeanFigure
from retrieval.evaluation.robustness.label_noise import Noise
from retrieval.metrics.resampling import Interval
from retrieval.texts.plurals import count_noun

NOT_COMPUTED: Final = "its interval was not computed: see the benchmark's page"
NOT_MEASURED: Final = "this run was not scored by this metric"


def build_leaderboard_tables(
    board: Leaderboard, noise: Noise | None, shown: Sequence[str]
) -> tuple[Table, ...]:
    """Systems by the metrics `shown`, each system against the next one where there are two, and what papers
    report.
    """
    differences = (build_differences_table(board, noise),) if board.differences else ()
    return (build_systems_table(board, shown), *differences, *build_reported_tables(board))


def build_systems_table(board: Leaderboard, shown: Sequence[str]) -> Table:
    """A row a system, the best first: its metrics with their intervals, and the share of judged results."""
    title = f"Systems on {board.benchmark} by {board.metric}"
    note = (
        f"Means over {count_noun(board.queries, 'query', 'queries')} with a match, with 95 % intervals; "
        "queries are resampled. A result without a label counts as no match; judged is the share of results "
        f"up to the cut-off of {board.metric} that have a label. sha256 {board.benchmark.digest[:12]}."
    )
    columns = ("system", "text", *shown, "judged")
    rows = (
        (
            standing.run.system,
            standing.run.text_option or "not known",
            *(read_mean(standing.figures.get(name), board.queries) for name in shown),
            read_judged_share(standing, board.metric),
        )
        for standing in board.standings
    )
    return Table("systems", title, columns, tuple(rows), note, charted=board.metric)


def read_mean(found: MeanFigure | None, queries: int) -> Figure:
    """A mean with its interval, or why there is none."""
    if found is None:
        return Figure(None, words=NOT_MEASURED)
    if found.interval is None:
        return Figure(found.value, queries=queries, words=NOT_COMPUTED)
    return with_interval(found.value, found.interval, queries)


def with_interval(value: float | None, between: Interval, queries: int) -> Figure:
    return Figure(value, between.low, between.high, queries=queries, method=RESAMPLED)


def read_judged_share(standing: SystemStanding, metric: str) -> Cell:
    found = standing.figures.get(metric)
    return None if found is None else found.judged


def build_differences_table(board: Leaderboard, noise: Noise | None) -> Table:
    """A row for each system that has another one below it."""
    title = f"Each system against the next on {board.benchmark}, by {board.metric}"
    note = (
        "Paired by query: mean difference with its 95 % interval, and the p-value of a randomisation test, "
        "corrected by Holm for the number of differences."
    )
    if noise:
        note += (
            f" Stays above: share of {noise.draws} draws in which the system stays above the next one when "
            f"labels are wrong ({noise.rates.source})."
        )
    columns = ("system", "next", "difference", "p (Holm)", *(["stays above"] if noise else []))
    return Table("differences", title, columns, tuple(list_difference_rows(board, noise)), note)


def list_difference_rows(board: Leaderboard, noise: Noise | None) -> Iterator[tuple[Cell, ...]]:
    titles = titles_of(standing.run for standing in board.standings)
    for place, one in enumerate(board.differences):
        row: tuple[Cell, ...] = (
            titles[one.better.pk],
            titles[one.other.pk],
            read_difference(one, board.queries),
            one.p,
        )
        yield (*row, noise.above[place]) if noise else row


def read_difference(found: PairedDifference, queries: int) -> Figure:
    return with_interval(found.value, found.interval, queries)
