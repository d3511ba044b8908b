"""`manage.py leaderboard BENCHMARK`: who stands where, how sure that is, and what pages show afterwards."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, Final

from django.conf import settings
from django.contrib.auth.models import AnonymousUser
from django.core.management.base import CommandError, CommandParser

from annotation.studies.report.downloads import FORMATS, formats_of
from annotation.web.benchmarks import leaderboard_notes
from annotation.web.benchmarks.leaderboard_tables import build_leaderboard_tables
from retrieval.encoders import MissingWeights, UnknownEncoder
from retrieval.evaluation.absent_metrics import find_missing_metrics
from retrieval.evaluation.content import NoSuchBenchmark, find_named_benchmark
from retrieval.evaluation.leaderboard import (
    Leaderboard,
    NotMeasured,
    Queries,
    SystemStanding,
    build_leaderboard,
    digests_of,
    refuse_another,
    titles_of,
)
from retrieval.evaluation.robustness.label_noise import ASSUMED, ErrorRates, Noise, noise_of
from retrieval.evaluation.robustness.left_out_encoder import NothingToLeaveOut, Without, leave_out
from retrieval.evaluation.robustness.metric_agreement import PAPER, Reliability, narrow_groups, reliability_of
from retrieval.evaluation.systems import published_systems
from retrieval.management.bars import open_bar
from retrieval.management.light import LightCommand
from retrieval.metrics.resampling import FEW, FEW_TOLD
from retrieval.models import Benchmark, Pool
from retrieval.texts.plurals import count_noun

LONGEST_RANGE: Final = 20
TABLES: Final = ("systems", "differences")
RANGE: Final = "only queries with so many matches: 1, 2-4, or 5- for five and more"


class Command(LightCommand):
    help = (
        "Lay the newest run of each system side by side: means with intervals, differences, paired tests "
        "after Holm, and how often each stays above the next when labels are wrong. What takes long is kept, "
        "so the benchmark's page shows it at once afterwards."
    )
    refusals = (MissingWeights, NoSuchBenchmark, NothingToLeaveOut, NotMeasured, UnknownEncoder)

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("benchmark", help="its name, or name@version")
        parser.add_argument("--metric", default="", help="order by it (default: ndcg@10, else mrr@10, mrr)")
        parser.add_argument("--pool", choices=Pool.values, help="default: what the benchmark says")
        parser.add_argument("--matches", default="", metavar="FEWEST[-MOST]", help=RANGE)
        parser.add_argument(
            "--errors",
            metavar="SHARE[,SHARE]",
            help="share of labels that are wrong: of all, or of matches and of the others; or study-ID, as "
            "on the page (default: what the newest study found of an annotator of the benchmark, else "
            f"{ASSUMED.matches:g}, {ASSUMED.source})".replace("%", "%%"),
        )
        parser.add_argument(
            "--leave-one-out",
            action="store_true",
            help="also mine without each encoder of the mining, and rank by what is left",
        )
        how = parser.add_mutually_exclusive_group()
        how.add_argument("--json", action="store_true", help="all of it as JSON, with all digits")
        how.add_argument("--format", choices=FORMATS, help="one table as a file: csv, json, tex or svg")
        parser.add_argument(
            "--table",
            choices=TABLES,
            default=TABLES[0],
            help="which one with --format: the systems (default), or each against the next",
        )
        parser.add_argument(
            "--show", nargs="+", metavar="METRIC", help="columns of the systems (default: all metrics)"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        benchmark = find_named_benchmark(options["benchmark"])
        queries, rates = parse_match_range(options["matches"]), rates_of(benchmark, options["errors"])
        pool = options["pool"] or benchmark.pool
        board = build_leaderboard(benchmark, pool, options["metric"], queries.fewest, queries.most)
        if not board.standings:
            missing = f"{benchmark} has no run over {Pool(pool).label} yet."
            raise CommandError(f"{missing} Create one: cosqa evaluate {benchmark} --encoder bm25")
        refuse_another(board, options["metric"])
        if options["format"]:
            self.stdout.write(write_table(board, rates, queries, options), ending="")
            return
        ordered = board.ordered
        noise = noise_of(benchmark, ordered, digests_of(ordered), board.metric, queries, rates, wait=True)
        without = self.without(board, queries) if options["leave_one_out"] else []
        found = serialize_leaderboard(board, pool, noise, without, reliability_of(board, queries))
        self.stdout.write(json.dumps(found, indent=2) if options["json"] else format_leaderboard_table(found))

    def without(self, board: Leaderboard, queries: Queries) -> list[Without]:
        with open_bar(unit=" texts") as bar:

            def tell(stage: str, done: int, total: int) -> None:
                bar.set_description(stage, refresh=False)
                bar.total = total
                bar.update(done - bar.n)

            return leave_out(board, queries, settings.COSQA_HOME / "vectors", tell)


def write_table(board: Leaderboard, rates: ErrorRates, queries: Queries, options: Mapping[str, Any]) -> str:
    """One table of the board. Raises CommandError where there is none, or nothing to draw."""
    ordered, shown = board.ordered, options["show"] or board.metrics
    if unknown := set(shown) - set(board.metrics):
        raise CommandError(f"--show {' '.join(sorted(unknown))}: there are {', '.join(board.metrics)}.")
    noise = noise_of(board.benchmark, ordered, digests_of(ordered), board.metric, queries, rates, wait=True)
    found = {table.key: table for table in build_leaderboard_tables(board, noise, shown)}
    table = found.get(options["table"])
    if table is None or options["format"] not in formats_of(table):
        why = "nothing can be drawn of it" if table else "one system has none to compare with"
        raise CommandError(f"--table {options['table']} --format {options['format']}: {why}.")
    write, _ = FORMATS[options["format"]]
    return write(table)


def parse_match_range(given: str) -> Queries:
    """Queries by number of matches: "2", "2-4", "5-". Raises CommandError."""
    fewest, dash, most = given.partition("-")
    if not given:
        return Queries()
    if not fewest.isdecimal() or (most and not most.isdecimal()) or len(given) > LONGEST_RANGE:
        raise CommandError(f"--matches {given}: write a number, such as 1, or a range, such as 2-4 or 5-.")
    return Queries(int(fewest), (int(most) if most else None) if dash else int(fewest))


def rates_of(benchmark: Benchmark, given: str | None) -> ErrorRates:
    """What the page takes where nothing is chosen, a choice of the page, or a share, or two.

    Raises CommandError.
    """
    choices = leaderboard_notes.error_choices(benchmark, AnonymousUser())
    if given is None:
        return leaderboard_notes.chosen_errors(choices, "").rates
    chosen = [choice for choice in choices if choice.written == given]
    if chosen:
        return chosen[0].rates
    try:
        return leaderboard_notes.given_errors(given)
    except ValueError as why:
        raise CommandError(
            f"--errors {given}: write a share between 0 and 1, or two with a comma, or study-ID."
        ) from why


def serialize_leaderboard(
    board: Leaderboard,
    pool: str,
    noise: Noise | None,
    without: list[Without],
    reliability: Reliability | None,
) -> dict[str, Any]:
    """Everything that the page shows, by the systems' titles."""
    titles = titles_of(standing.run for standing in board.standings)
    origins = {
        origin.system: origin for origin in leaderboard_notes.list_system_origins(board.benchmark, board)
    }
    return {
        "benchmark": str(board.benchmark),
        "pool": pool,
        "metric": board.metric,
        "queries": board.queries,
        "systems": {
            titles[standing.run.pk]: system_as_json(standing, origins[standing.run.system])
            for standing in board.standings
        },
        "differences": [
            {
                "better": titles[difference.better.pk],
                "other": titles[difference.other.pk],
                "value": difference.value,
                "interval": [difference.interval.low, difference.interval.high],
                "p_holm": difference.p,
                "stays_above": noise.above[place] if noise else None,
            }
            for place, difference in enumerate(board.differences)
        ],
        "label_noise": noise and asdict(noise),
        "reliability": reliability
        and reliability_as_json(reliability, [titles[run.pk] for run in board.ordered]),
        "without": {left_out.encoder: without_as_json(left_out, titles) for left_out in without},
        "not_computed": [asdict(metric) for metric in find_missing_metrics(board, board.metrics)],
    }


def without_as_json(left_out: Without, titles: Mapping[int, str]) -> dict[str, Any]:
    return {
        "labels": left_out.labels,
        "matches": left_out.matches,
        "values": {titles[run]: value for run, value in left_out.values.items()},
        "ranks": {titles[run]: rank for run, rank in left_out.ranks.items()},
    }


def system_as_json(standing: SystemStanding, origin: leaderboard_notes.Origin) -> dict[str, Any]:
    """One system's figures by metric, and what has to be known with them."""
    return {
        "run": standing.run.pk,
        "system": standing.run.system,
        "text_option": standing.run.text_option or None,
        "helped_to_mine": standing.helped_to_mine,
        "holes_filled": standing.was_filled,
        "fewer_judged": standing.less_judged,
        "trained_on": origin.trained_on,
        "sees_tasks": origin.sees_tasks,
        "shared_with_annotator": origin.shared or None,
        "coverage": standing.run.options.get("coverage"),
        **{name: asdict(figure) for name, figure in standing.figures.items()},
    }


def reliability_as_json(of: Reliability, titles: list[str]) -> dict[str, Any]:
    """Alpha, average variance, both of CoSQA+'s groups too, and each system's mean by number of matches."""
    paper = narrow_groups(of, *PAPER)
    return {
        "cronbach_alpha": of.alpha,
        "average_variance": of.variance,
        "of_2_to_5_matches": {"cronbach_alpha": paper.alpha, "average_variance": paper.variance},
        "groups": [
            {
                "matches": group.matches,
                "queries": group.queries,
                "means": dict(zip(titles, group.means, strict=False)),
            }
            for group in of.groups
        ],
    }


def coverage_and_reliability(found: dict[str, Any]) -> list[str]:
    lines = [
        f"{name} covers {system['coverage']['judged']:.1%} of the judged functions"
        for name, system in found["systems"].items()
        if system["coverage"] and system["coverage"]["judged"] is not None
    ]
    about = found["reliability"]
    if about and about["groups"]:
        groups = "; ".join(
            f"{group['matches']}: {count_noun(group['queries'], 'query', 'queries')}"
            for group in about["groups"]
        )
        figures = (
            ("Cronbach's alpha", about["cronbach_alpha"]),
            ("average variance", about["average_variance"]),
        )
        told = ", ".join(f"{what} {mean_told(value)}" for what, value in figures)
        lines.append(f"queries grouped by their number of matches ({groups}): {told}")
        alpha = mean_told(about["of_2_to_5_matches"]["cronbach_alpha"])
        lines.append(f"over those with 2 to 5 matches, as in CoSQA+: Cronbach's alpha {alpha}")
    return lines


def mean_told(value: float | None) -> str:
    return "undefined" if value is None else f"{value:.4f}"


def format_leaderboard_table(found: dict[str, Any]) -> str:
    """A table for people."""
    over = count_noun(found["queries"], "query", "queries")
    return "\n".join(
        [
            f"{found['benchmark']}, {found['pool']}: {found['metric']} over {over}",
            *(format_standing_line(found, *row) for row in enumerate(found["systems"], 1)),
            *not_computed(found),
            *map(format_difference_line, found["differences"]),
            *([FEW_TOLD] if 1 < found["queries"] < FEW else []),
            *coverage_and_reliability(found),
            *label_noise(found["label_noise"]),
        ]
    )


def format_standing_line(found: dict[str, Any], rank: int, name: str) -> str:
    """One system's line."""
    system = found["systems"][name]
    left = "".join(f"; without {e} rank {w['ranks'].get(name, '–')}" for e, w in found["without"].items())
    text = system["text_option"] or "not known"
    return (
        f"{rank:3} {name}: {mean_and_ends(system.get(found['metric']))}; text: "
        f"{text}{format_system_marks(system)}{left}"
    )


def mean_and_ends(figure: dict[str, Any] | None) -> str:
    if figure is None:
        return "–"
    between = figure["interval"]
    ends = f" [{between['low']:.4f}, {between['high']:.4f}]" if between else ""
    return f"{mean_told(figure['value'])}{ends}"


def format_system_marks(system: dict[str, Any]) -> str:
    """What has to be known of a system beside its figure."""
    shared = system["shared_with_annotator"]
    told = {
        "helped to mine": system["helped_to_mine"],
        "holes filled": system["holes_filled"],
        "fewer judged": system["fewer_judged"],
        leaderboard_notes.SEEN: system["sees_tasks"],
        shared: shared not in (None, *published_systems.UNRELATED),
    }
    return "".join(f"; {mark}" for mark, holds in told.items() if holds)


def not_computed(found: dict[str, Any]) -> list[str]:
    return [
        f"–: {', '.join(lacking['metrics'])} not computed for {', '.join(lacking['systems'])}: "
        f"{lacking['command']}"
        for lacking in found["not_computed"]
        if found["metric"] in lacking["metrics"]
    ]


def format_difference_line(difference: dict[str, Any]) -> str:
    """One line of two systems that stand next to each other."""
    stays, (low, high) = difference["stays_above"], difference["interval"]
    above = "" if stays is None else f", stays above in {stays:.1%} of the draws"
    return (
        f"{difference['better']} − {difference['other']}: {difference['value']:.4f} [{low:.4f}, {high:.4f}], "
        f"p {difference['p_holm']:.4f} after Holm{above}"
    )


def label_noise(noise: dict[str, Any] | None) -> list[str]:
    if not noise:
        return []
    rates = noise["rates"]
    source = f"{rates['source']}{leaderboard_notes.as_counted(rates['matches_of'], rates['others_of'])}"
    flipped = f"{rates['matches']:.1%} of the matches and {rates['others']:.1%} of the other labels"
    return [f"draws flip {flipped}: {source}"]
