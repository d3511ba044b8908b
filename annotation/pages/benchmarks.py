"""What the pages of benchmarks show: the list, a leaderboard, a query's ranked lists side by side."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Final

import numpy as np
from django.db.models import Count, QuerySet
from django.http import QueryDict

from annotation.access import Visitor
from annotation.pages import board as beside
from annotation.pages.board import Choice, Origin, PaperTable
from annotation.pages.mending import Flaw, flaws_of
from annotation.pages.paging import whole_number
from annotation.pages.words import MATCH, NO_MATCH, UNJUDGED, Sign
from retrieval.evaluation.content import query_members, snippet_members
from retrieval.evaluation.lacking import Lacking, lacking
from retrieval.evaluation.leaderboard import RANGES, Difference, Leaderboard, Queries, Standing, leaderboard
from retrieval.evaluation.leaving_out import Without, encoders_of, kept_without
from retrieval.evaluation.noise import Noise
from retrieval.evaluation.reliability import Reliability, reliability_of
from retrieval.metrics.from_ranks import is_from_ranks
from retrieval.metrics.resampling import FEW
from retrieval.models import Benchmark, BenchmarkLabel, Member, Pool, RankedList, Run, Text

MOST_BENCHMARKS = 200
MOST_QUERIES = 20
SHOWN_RESULTS = 10
MOST_LISTS = 3
NARROW: Final = ("ndcg@10", "mrr@10", "mrr", "map@10", "recall@10", "success@1")
"""Columns of the table where nobody chose any: more are chosen, so that it stays narrow."""
MATCHES: Final = (
    ("", "any number", *RANGES[0]),
    ("1", "one", *RANGES[1]),
    ("2-4", "two to four", *RANGES[2]),
    ("5+", "five and more", *RANGES[3]),
)
"""Filter by number of matches: written, said, fewest, most. A field called `matches` would hide the method of
its form that htmx asks."""


@dataclass(frozen=True, slots=True)
class Cell:
    """A mean as it is printed, its interval, judged share and condensed value; empty where undefined.

    The mean is "–" where the run was never asked for it.

    `sorted` is whether the rows go by it.
    """

    metric: str
    value: str
    interval: str
    judged: str
    condensed: str
    sorted: bool = False


@dataclass(frozen=True, slots=True)
class Row:
    """A system; `ranks`: between which ranks it stands when labels are wrong, empty where nobody drew."""

    standing: Standing
    cells: Sequence[Cell]
    origin: Origin
    ranks: str = ""


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Where a system stands without an encoder; `usual` is its rank with all of them."""

    encoder: str
    rank: int
    value: float | None
    usual: int

    @property
    def moved(self) -> bool:
        return self.rank != self.usual


@dataclass(frozen=True, slots=True)
class Apart:
    """Two neighbours; `above`: in which share of the draws of label noise the better one stays above."""

    difference: Difference
    above: float | None


@dataclass(frozen=True, slots=True)
class QueryRow:
    """A query on which the two best runs, or the best one alone, differ most."""

    query: Text
    matches: int
    values: Sequence[float]


@dataclass(frozen=True, slots=True)
class BenchmarkPage:
    """A leaderboard of one pool; `shown` are the metrics that have a column."""

    benchmark: Benchmark
    board: Leaderboard
    shown: Sequence[str]
    rows: Sequence[Row]
    queries: Sequence[QueryRow]
    pool: str
    pools: Sequence[tuple[str, str]]
    matches: str
    apart: Sequence[Apart]
    noise: Noise | None
    errors: Sequence[Choice]
    error: Choice
    origins: Sequence[Origin]
    without: Sequence[Without]
    paper: PaperTable | None
    reliability: Reliability | None
    flaws: Sequence[Flaw] = ()
    few: int = FEW
    typed: str = ""

    @property
    def is_no_share(self) -> bool:
        """Whether what was typed says no share of wrong labels, so that the usual one is assumed."""
        return bool(self.typed) and beside.own_choice(self.typed) is None

    @property
    def lacking(self) -> list[Lacking]:
        """Which of the columns were not computed for which systems."""
        return lacking(self.board, self.shown)

    @property
    def left_out(self) -> list[tuple[str, list[LeftOut]]]:
        """By system in the board's order: where it stands without each encoder. Rows without figures where
        nothing was computed; nothing where no encoder can be left out.
        """
        if not encoders_of(self.benchmark):
            return []
        return [
            (
                run.title,
                [LeftOut(one.encoder, one.ranks[run.pk], one.values[run.pk], rank) for one in self.without],
            )
            for rank, run in enumerate(self.board.ordered, 1)
        ]

    @property
    def by_matches(self) -> list[tuple[str, list[float]]]:
        """By system in the board's order: its mean over each group of queries."""
        if self.reliability is None:
            return []
        groups = self.reliability.groups
        return [
            (run.title, [group.means[place] for group in groups])
            for place, run in enumerate(self.board.ordered)
        ]

    @property
    def has_condensed(self) -> bool:
        """Whether lists without their unjudged results say anything; else they are perfect by themselves.

        By the figures, which know it already: to look through the labels takes up to a second.
        """
        figures = (figure for row in self.rows for figure in row.standing.figures.values())
        return any(figure.condensed is not None for figure in figures)

    @property
    def as_counted(self) -> str:
        """What the draws do with shares that a study counted, in words."""
        return beside.as_counted(self.error.rates.matches_of, self.error.rates.others_of)

    @property
    def can_draw(self) -> bool:
        """Whether label errors can be drawn for the metric."""
        return is_from_ranks(self.board.metric)

    @property
    def command(self) -> str:
        """What computes all that this page shows, as it is typed."""
        words = ["leaderboard", str(self.benchmark), "--pool", self.pool, "--metric", self.board.metric]
        if self.matches:
            words += ["--matches", self.matches.replace("+", "-")]
        return f"python manage.py {shlex.join([*words, '--errors', self.error.written])}"

    @property
    def choices(self) -> list[tuple[str, str]]:
        return [(written, said) for written, said, *_ in MATCHES]

    @property
    def best(self) -> list[Run]:
        """The runs whose lists are laid side by side."""
        return [row.standing.run for row in self.rows[:2]]


@dataclass(frozen=True, slots=True)
class Result:
    """One result of a list; `member` is None where the benchmark lacks the snippet."""

    rank: int
    member: Member | None
    sign: Sign


@dataclass(frozen=True, slots=True)
class ListOf:
    """A run's first results for a query, and at which ranks the matches stand; 0: not found."""

    run: Run
    results: Sequence[Result]
    ranks: Sequence[int]


@dataclass(frozen=True, slots=True)
class QueryPage:
    """`pairs` have a label that is shown."""

    benchmark: Benchmark
    query: Text
    matches: int
    lists: Sequence[ListOf]
    pairs: Sequence[int]


def benchmarks_page(visible: QuerySet[Benchmark]) -> list[Benchmark]:
    """All that may be seen, each with its number of runs as `run_count`."""
    rows = visible.select_related("queries", "snippets").defer("matches")
    return list(rows.annotate(run_count=Count("runs"))[:MOST_BENCHMARKS])


def matches_of(written: str) -> tuple[str, str, int, int | None]:
    """The row of `MATCHES` that an address names; the first one for anything unknown."""
    return next((one for one in MATCHES if one[0] == written), MATCHES[0])


def benchmark_page(benchmark: Benchmark, params: QueryDict, user: Visitor) -> BenchmarkPage:
    """What is asked for: `pool`, `metric`, `show`, `found`, `errors`, typed `shares`; else the default."""
    pool = params.get("pool", "")
    pool = pool if pool in Pool.values else benchmark.pool
    found, _, fewest, most = matches_of(params.get("found", ""))
    board = leaderboard(benchmark, pool, params.get("metric", ""), fewest, most, wait=False)
    typed = params.get("shares", "").replace(" ", "")
    written = typed or params.get("errors", "")
    errors = beside.error_choices(benchmark, user, written)
    error = beside.chosen_errors(errors, written)
    noise = beside.noise(benchmark, board, Queries(fewest, most), error.rates)
    origins, shown = beside.origins(benchmark, board), shown_of(board, params.getlist("show"))
    return BenchmarkPage(
        benchmark=benchmark,
        board=board,
        shown=shown,
        rows=rows_of(board, noise, origins, shown),
        queries=query_rows(benchmark, board),
        pool=pool,
        pools=pools_of(benchmark, pool),
        matches=found,
        apart=[
            Apart(one, noise.above[place] if noise else None) for place, one in enumerate(board.differences)
        ],
        noise=noise,
        errors=errors,
        error=error,
        typed=typed,
        origins=origins,
        without=kept_without(board, Queries(fewest, most)),
        paper=beside.paper_table(board),
        reliability=None if board.unmeasured else reliability_of(board, Queries(fewest, most)),
        flaws=flaws_of(benchmark),
    )


def pools_of(benchmark: Benchmark, pool: str) -> list[tuple[str, str]]:
    """The pools that were searched by any run, and the one that is shown."""
    used = set(benchmark.runs.values_list("pool", flat=True).distinct()) | {pool}
    return [(value, str(label)) for value, label in Pool.choices if value in used]


def shown_of(board: Leaderboard, asked: Sequence[str]) -> list[str]:
    """The metrics that get a column, in the board's order: those asked for, else a few."""
    known = set(board.metrics)
    wanted = known.intersection(asked) or known.intersection(NARROW) or {*board.metrics[: len(NARROW)]}
    return [name for name in board.metrics if name in wanted or name == board.metric]


def rows_of(
    board: Leaderboard, noise: Noise | None, origins: Sequence[Origin], shown: Sequence[str]
) -> list[Row]:
    """The systems in the board's order; those that lack its metric come last and have no ranks."""
    origin_of = {one.system: one for one in origins}
    ranks = [f"{low} to {high}" if low < high else f"{low}" for low, high in noise.ranks] if noise else []
    return [
        Row(
            standing,
            [cell(standing, name) for name in shown],
            origin_of[standing.run.system],
            told or "",
        )
        for standing, told in zip_longest(board.standings, ranks)
    ]


def cell(standing: Standing, metric: str) -> Cell:
    figure = standing.figures.get(metric)
    if figure is None or figure.value is None:
        return Cell(metric, "–" if figure is None else "undefined", "", "", "")
    between = figure.interval
    return Cell(
        metric,
        f"{figure.value:.3f}",
        f"{between.low:.3f} to {between.high:.3f}" if between else "",
        "" if figure.judged is None else f"{figure.judged:.0%}",
        "" if figure.condensed is None else f"{figure.condensed:.3f}",
    )


def query_rows(benchmark: Benchmark, board: Leaderboard) -> list[QueryRow]:
    """Where the two best runs are furthest apart; of one run alone where it does worst."""
    values = board.values(2)
    if not values:
        return []
    weight = np.abs(values[0] - values[1]) if len(values) == 2 else 1 - values[0]
    weight = np.where(board.chosen, weight, -1.0)
    places = [int(place) for place in np.argsort(-weight, kind="stable")[:MOST_QUERIES] if weight[place] > 0]
    members = query_members(benchmark).filter(position__in=places).select_related("text")
    query_at = {member.position: member.text for member in members}
    counts = benchmark.match_counts
    return [
        QueryRow(query_at[place], int(counts[place]), [float(of_run[place]) for of_run in values])
        for place in places
    ]


def query_page(benchmark: Benchmark, query: Text, runs: QuerySet[Run], params: QueryDict) -> QueryPage:
    """The first results of up to three runs; `run` names them, else the newest."""
    wanted = [whole_number(text) for text in params.getlist("run")[:MOST_LISTS]]
    chosen = sorted(runs.filter(pk__in=wanted), key=lambda run: wanted.index(run.pk))
    chosen = chosen or list(runs.order_by("-pk")[:MOST_LISTS])
    said = {
        row.pair.snippet_id: row
        for row in BenchmarkLabel.objects.filter(benchmark=benchmark, pair__query=query).select_related(
            "pair"
        )
    }
    found = RankedList.objects.filter(query=query, run__in=chosen)
    places = {row.run_id: row.places.tolist() for row in found}
    top = {place for of_run in places.values() for place in of_run[:SHOWN_RESULTS]}
    members = snippet_members(benchmark)
    member_at = {row.position: row for row in members.filter(position__in=top).select_related("text")}
    matching = [snippet for snippet, row in said.items() if row.relevance > 0]
    wanted_places = list(members.filter(text__in=matching).values_list("position", flat=True))
    lists = [
        ListOf(
            run,
            [
                result(rank, member_at.get(place), said)
                for rank, place in enumerate(of_run[:SHOWN_RESULTS], 1)
            ],
            sorted(of_run.index(place) + 1 if place in of_run else 0 for place in wanted_places),
        )
        for run in chosen
        for of_run in [places.get(run.pk, [])]
    ]
    return QueryPage(benchmark, query, len(matching), lists, [row.pair_id for row in said.values()])


def result(rank: int, member: Member | None, said: dict[int, BenchmarkLabel]) -> Result:
    label = said.get(member.text_id) if member else None
    if label is None:
        return Result(rank, member, UNJUDGED)
    return Result(rank, member, MATCH if label.relevance > 0 else NO_MATCH)
