"""What the pages of benchmarks show: the list, a leaderboard, a query's ranked lists side by side."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping, Sequence
from itertools import zip_longest
from typing import Any, Final

import numpy as np
from django.db.models import Count, QuerySet
from django.http import QueryDict

from annotation.accounts.roles import Visitor
from annotation.studies.report.table import Table
from annotation.web.benchmarks import leaderboard_notes
from annotation.web.benchmarks.flaws import flaws_of
from annotation.web.benchmarks.leaderboard_notes import ErrorRateChoice, Origin
from annotation.web.benchmarks.leaderboard_tables import build_leaderboard_tables
from annotation.web.benchmarks.reported_tables import build_reported_tables, view_reported_tables
from annotation.web.shared.downloads import list_table_formats
from annotation.web.shared.pagination import whole_number
from annotation.web.shared.words import Sign, format_interval, label_sign
from retrieval.evaluation.absent_metrics import find_missing_metrics
from retrieval.evaluation.aliases import OWN, load_id_labels
from retrieval.evaluation.bug_ranks import rank_bugs
from retrieval.evaluation.citation import cite_benchmark
from retrieval.evaluation.content import snippet_members
from retrieval.evaluation.leaderboard import (
    RANGES,
    Leaderboard,
    Queries,
    SystemStanding,
    build_leaderboard,
    digests_of,
)
from retrieval.evaluation.robustness.label_noise import Noise, noise_of
from retrieval.evaluation.robustness.left_out_encoder import Without, encoders_of, kept_without
from retrieval.evaluation.robustness.metric_agreement import PAPER, narrow_groups, reliability_of
from retrieval.metrics.from_ranks import is_from_ranks
from retrieval.metrics.resampling import FEW
from retrieval.models import (
    Alias,
    Benchmark,
    BenchmarkLabel,
    Collection,
    Member,
    Pool,
    RankedList,
    Run,
    Text,
)
from retrieval.models.benchmarks import NOWHERE

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
    ("2-5", "two to five, as in CoSQA+", *RANGES[4]),
)
"""Filter by number of matches: written, said, fewest, most. A field called `matches` would hide the method of
its form that htmx asks."""


def benchmarks_page(visible: QuerySet[Benchmark]) -> list[Benchmark]:
    """All that may be seen, each with its number of runs as `run_count`."""
    rows = visible.select_related("queries", "snippets").defer("matches")
    return list(rows.annotate(run_count=Count("runs"))[:MOST_BENCHMARKS])


def matches_of(written: str) -> tuple[str, str, int, int | None]:
    """The row of `MATCHES` that an address names; the first one for anything unknown."""
    return next((match for match in MATCHES if match[0] == written), MATCHES[0])


def benchmark_page(benchmark: Benchmark, params: QueryDict, user: Visitor) -> dict[str, Any]:
    """What is asked for: `pool`, `metric`, `show`, `found`, `errors`, typed `shares`; else the default.

    `shown` are the metrics that have a column, `best` the runs whose lists are laid side by side.
    """
    pool = params.get("pool", "")
    pool = pool if pool in Pool.values else benchmark.pool
    found, _, fewest, most = matches_of(params.get("found", ""))
    board = build_leaderboard(benchmark, pool, params.get("metric", ""), fewest, most, wait=False)
    shown = shown_of(board, params.getlist("show"))
    sureness = describe_sureness(benchmark, board, Queries(fewest, most), params, user)
    origins = leaderboard_notes.list_system_origins(benchmark, board)
    rows = build_leaderboard_rows(board, sureness["noise"], origins, shown)
    return {
        "benchmark": benchmark,
        "board": board,
        "shown": shown,
        "lacking": find_missing_metrics(board, shown),
        "rows": rows,
        "best": [row["standing"].run for row in rows[:2]],
        "queries": query_rows(benchmark, board),
        "pool": pool,
        "pools": pools_of(benchmark, pool),
        "matches": found,
        "choices": [(written, said) for written, said, *_ in MATCHES],
        "origins": origins,
        "reported": view_reported_tables(build_reported_tables(board)),
        "flaws": flaws_of(benchmark),
        "bugs": rank_bugs(benchmark, [standing.run for standing in board.standings]),
        "has_condensed": has_condensed(board),
        "tables": list_table_formats(build_leaderboard_tables(board, sureness["noise"], shown), params),
        "bibtex": cite_benchmark(benchmark),
        "command": format_leaderboard_command(benchmark, board, pool, found, sureness["error"]),
        "few": FEW,
        **sureness,
    }


def leaderboard_tables(benchmark: Benchmark, params: QueryDict, user: Visitor) -> tuple[Table, ...]:
    """The tables of the page that `params` asks for."""
    page = benchmark_page(benchmark, params, user)
    return build_leaderboard_tables(page["board"], page["noise"], page["shown"])


def describe_sureness(
    benchmark: Benchmark, board: Leaderboard, queries: Queries, params: QueryDict, user: Visitor
) -> dict[str, Any]:
    """How sure the board's order is: where labels are wrong, without an encoder, by number of matches.

    `apart` are neighbours, each with the share of the draws of label noise in which the better stays above.
    """
    typed = params.get("shares", "").replace(" ", "")
    written = typed or params.get("errors", "")
    errors = leaderboard_notes.error_choices(benchmark, user, written)
    error = leaderboard_notes.chosen_errors(errors, written)
    # None where there is nothing to say, or a page can't wait for the draws.
    noise = noise_of(benchmark, board.ordered, digests_of(board.ordered), board.metric, queries, error.rates)
    without = kept_without(board, queries)
    reliability = None if board.unmeasured else reliability_of(board, queries)
    groups = reliability.groups if reliability else ()
    return {
        "errors": errors,
        "error": error,
        "typed": typed,
        # What was typed is no share of wrong labels, so that the usual one is assumed.
        "is_no_share": bool(typed) and leaderboard_notes.own_choice(typed) is None,
        "as_counted": leaderboard_notes.as_counted(error.rates.matches_of, error.rates.others_of),
        "can_draw": is_from_ranks(board.metric),
        "noise": noise,
        "apart": list(zip_longest(board.differences, noise.above if noise else ())),
        "without": without,
        "left_out": ranks_without(board, without) if encoders_of(benchmark) else [],
        "reliability": reliability,
        "paper_groups": reliability and narrow_groups(reliability, *PAPER),
        # By system in the board's order: its mean over each group of queries.
        "by_matches": [
            (run.title, [group.means[place] for group in groups])
            for place, run in enumerate(board.ordered if groups else ())
        ],
    }


def ranks_without(board: Leaderboard, without: Sequence[Without]) -> list[tuple[str, list[dict[str, Any]]]]:
    """By system in the board's order: where it stands without each encoder; nothing where none is known."""
    return [
        (
            run.title,
            [
                {
                    "encoder": left.encoder,
                    "rank": left.ranks[run.pk],
                    "value": left.values[run.pk],
                    "moved": left.ranks[run.pk] != usual,
                }
                for left in without
            ],
        )
        for usual, run in enumerate(board.ordered, 1)
    ]


def has_condensed(board: Leaderboard) -> bool:
    """Whether lists without their unjudged results say anything; else they are perfect by themselves.

    By the figures, which know it already: to look through the labels takes up to a second.
    """
    figures = (figure for standing in board.standings for figure in standing.figures.values())
    return any(figure.condensed is not None for figure in figures)


def format_leaderboard_command(
    benchmark: Benchmark, board: Leaderboard, pool: str, matches: str, error: ErrorRateChoice
) -> str:
    """What computes all that this page shows, as it is typed."""
    words = ["leaderboard", str(benchmark), "--pool", pool, "--metric", board.metric]
    words += ["--matches", matches.replace("+", "-")] if matches else []
    return f"cosqa {shlex.join([*words, '--errors', error.written])}"


def pools_of(benchmark: Benchmark, pool: str) -> list[tuple[str, str]]:
    """The pools that were searched by any run, and the one that is shown."""
    used = set(benchmark.runs.values_list("pool", flat=True).distinct()) | {pool}
    return [(value, str(label)) for value, label in Pool.choices if value in used]


def shown_of(board: Leaderboard, asked: Sequence[str]) -> list[str]:
    """The metrics that get a column, in the board's order: those asked for, else a few."""
    known = set(board.metrics)
    wanted = known.intersection(asked) or known.intersection(NARROW) or {*board.metrics[: len(NARROW)]}
    return [name for name in board.metrics if name in wanted or name == board.metric]


def build_leaderboard_rows(
    board: Leaderboard, noise: Noise | None, origins: Sequence[Origin], shown: Sequence[str]
) -> list[dict[str, Any]]:
    """The systems in the board's order; those that lack its metric come last and have no ranks.

    `ranks`: between which ranks a system stands when labels are wrong, empty where nobody drew.
    """
    origin_of = {origin.system: origin for origin in origins}
    ranks = [f"{low} to {high}" if low < high else f"{low}" for low, high in noise.ranks] if noise else []
    return [
        {
            "standing": standing,
            "cells": [build_leaderboard_cell(standing, name) for name in shown],
            "origin": origin_of[standing.run.system],
            "ranks": told or "",
        }
        for standing, told in zip_longest(board.standings, ranks)
    ]


def build_leaderboard_cell(standing: SystemStanding, metric: str) -> dict[str, str]:
    """A mean as it is printed, its interval, judged share and condensed value; empty where undefined.

    The mean is "–" where the run was never asked for it.
    """
    figure = standing.figures.get(metric)
    if figure is None or figure.value is None:
        return {"metric": metric, "value": "–" if figure is None else "undefined"}
    return {
        "metric": metric,
        "value": f"{figure.value:.3f}",
        "interval": format_interval(figure.interval, "{:.3f}".format),
        "judged": "" if figure.judged is None else f"{figure.judged:.0%}",
        "condensed": "" if figure.condensed is None else f"{figure.condensed:.3f}",
    }


def query_rows(benchmark: Benchmark, board: Leaderboard) -> list[dict[str, Any]]:
    """Where the two best runs are furthest apart; of one run alone where it does worst."""
    values = board.values(2)
    if not values:
        return []
    weight = np.abs(values[0] - values[1]) if len(values) == 2 else 1 - values[0]
    weight = np.where(board.chosen, weight, -1.0)
    places = [int(place) for place in np.argsort(-weight, kind="stable")[:MOST_QUERIES] if weight[place] > 0]
    query_at = {
        place: row.text
        for place, row in rows_at_places(benchmark.queries, benchmark.queries_until, places).items()
    }
    counts = benchmark.match_counts
    return [
        {
            "query": query_at[place],
            "matches": int(counts[place]),
            "values": [float(of_run[place]) for of_run in values],
        }
        for place in places
    ]


def query_page(benchmark: Benchmark, query: Text, runs: QuerySet[Run], params: QueryDict) -> dict[str, Any]:
    """The first results of up to three runs; `run` names them, else the newest. `pairs` have a label here."""
    wanted = [whole_number(text) for text in params.getlist("run")[:MOST_LISTS]]
    chosen = sorted(runs.filter(pk__in=wanted), key=lambda run: wanted.index(run.pk))
    chosen = chosen or list(runs.order_by("-pk")[:MOST_LISTS])
    rows = BenchmarkLabel.objects.filter(benchmark=benchmark, pair__query=query)
    said = relevances_of_query(benchmark, query)
    matching = [place for place, relevance in said.items() if relevance > 0]
    return {
        "benchmark": benchmark,
        "query": query,
        "matches": len(matching),
        "lists": build_ranked_lists(benchmark, query, chosen, said, matching),
        "pairs": list(rows.values_list("pair_id", flat=True)),
    }


def relevances_of_query(benchmark: Benchmark, query: Text) -> dict[int, float]:
    """By place what is known of a query's snippets, asked by its own id."""
    labels = BenchmarkLabel.objects.filter(benchmark=benchmark, pair__query=query)
    rows = list(labels.values_list("pair_id", "pair__snippet_id", "relevance"))
    by_ids = load_id_labels(benchmark, [pair for pair, *_ in rows]) if benchmark.goes_by_ids else {}
    members = snippet_members(benchmark).filter(text__in=[snippet for _, snippet, _ in rows])
    place_of = dict(members.values_list("text_id", "position"))
    found = dict[int, float]()
    for pair, snippet, relevance in rows:
        for (asked, code), told in by_ids.get(pair, {(OWN, OWN): relevance}).items():
            if asked == OWN:
                found[benchmark.snippets_until + code - 1 if code else place_of[snippet]] = told
    return found


def rows_at_places(collection: Collection, until: int, places: Iterable[int]) -> dict[int, Member | Alias]:
    """By place the member or, from `until` on, the alias, each with its text."""
    wanted = [place for place in places if place != NOWHERE]
    members = collection.members.filter(position__in=[place for place in wanted if place < until])
    found: dict[int, Member | Alias] = {row.position: row for row in members.select_related("text")}
    aliases = collection.aliases.filter(number__in=[place - until + 1 for place in wanted if place >= until])
    return found | {until + row.number - 1: row for row in aliases.select_related("text")}


def build_ranked_lists(
    benchmark: Benchmark,
    query: Text,
    runs: Sequence[Run],
    said: Mapping[int, float],
    matching: Sequence[int],
) -> list[dict[str, Any]]:
    """Each run's first results for a query, and at which ranks the matches stand; 0: not found.

    `said` and `matching` go by places. `member` of a result is None where the benchmark lacks the snippet.
    """
    found = RankedList.objects.filter(query=query, alias=OWN, run__in=runs)
    places = {row.run_id: row.places.tolist() for row in found}
    top = {place for of_run in places.values() for place in of_run[:SHOWN_RESULTS]}
    member_at = rows_at_places(benchmark.snippets, benchmark.snippets_until, top)
    lists = []
    for run in runs:
        of_run = places.get(run.pk, [])
        lists.append(
            {
                "run": run,
                "results": [
                    {"rank": rank, "member": member_at.get(place), "sign": sign_of_result(said.get(place))}
                    for rank, place in enumerate(of_run[:SHOWN_RESULTS], 1)
                ],
                "ranks": sorted(of_run.index(place) + 1 if place in of_run else 0 for place in matching),
            }
        )
    return lists


def sign_of_result(relevance: float | None) -> Sign:
    return label_sign(None if relevance is None else int(relevance > 0))
