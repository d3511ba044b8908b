"""`manage.py leaderboard BENCHMARK`: who stands where, how sure that is, and what pages show afterwards."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, Final

from django.conf import settings
from django.contrib.auth.models import AnonymousUser
from django.core.management.base import CommandError, CommandParser
from tqdm import tqdm

from annotation.pages import board as beside
from retrieval.counting import counted
from retrieval.encoders import MissingWeights, UnknownEncoder
from retrieval.evaluation import known_systems
from retrieval.evaluation.content import NoSuchBenchmark, named
from retrieval.evaluation.lacking import lacking
from retrieval.evaluation.leaderboard import (
    Leaderboard,
    NotMeasured,
    Queries,
    Standing,
    digests_of,
    leaderboard,
    refuse_another,
    titles_of,
)
from retrieval.evaluation.leaving_out import NothingToLeaveOut, Without, leave_out
from retrieval.evaluation.noise import ASSUMED, ErrorRates, Noise, noise_of
from retrieval.evaluation.reliability import Reliability, reliability_of
from retrieval.management.light import LightCommand
from retrieval.metrics.resampling import FEW, FEW_TOLD
from retrieval.models import Benchmark, Pool

LONGEST_RANGE: Final = 20
RANGE: Final = "only queries with so many matches: 1, 2-4, or 5- for five and more"


class Command(LightCommand):
    help = (
        "Lay the newest run of each system side by side: means with intervals, differences, paired tests "
        "after Holm, and how often each stays above the next when labels are wrong. What takes long is kept, "
        "so the benchmark's page shows it at once afterwards."
    )

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
        parser.add_argument("--json", action="store_true", help="as JSON, with all digits")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            benchmark = named(options["benchmark"])
        except NoSuchBenchmark as why:
            raise CommandError(str(why)) from why
        queries, rates = queries_of(options["matches"]), rates_of(benchmark, options["errors"])
        pool = options["pool"] or benchmark.pool
        board = leaderboard(benchmark, pool, options["metric"], queries.fewest, queries.most)
        if not board.standings:
            raise CommandError(f"No run on {benchmark} searched {pool}: 'manage.py evaluate' makes one.")
        try:
            refuse_another(board, options["metric"])
        except NotMeasured as why:
            raise CommandError(str(why)) from why
        ordered = board.ordered
        noise = noise_of(benchmark, ordered, digests_of(ordered), board.metric, queries, rates, wait=True)
        without = self.without(board, queries) if options["leave_one_out"] else []
        found = as_json(board, pool, noise, without, reliability_of(board, queries))
        self.stdout.write(json.dumps(found, indent=2) if options["json"] else told(found))

    def without(self, board: Leaderboard, queries: Queries) -> list[Without]:
        with tqdm(unit=" texts", disable=None) as bar:

            def tell(stage: str, done: int, total: int) -> None:
                bar.set_description(stage, refresh=False)
                bar.total = total
                bar.update(done - bar.n)

            try:
                return leave_out(board, queries, settings.COSQA_HOME / "vectors", tell)
            except (NothingToLeaveOut, MissingWeights, UnknownEncoder) as why:
                raise CommandError(str(why)) from why


def queries_of(given: str) -> Queries:
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
    choices = beside.error_choices(benchmark, AnonymousUser())
    if given is None:
        return beside.chosen_errors(choices, "").rates
    chosen = [one for one in choices if one.written == given]
    if chosen:
        return chosen[0].rates
    try:
        return beside.given_errors(given)
    except ValueError as why:
        raise CommandError(
            f"--errors {given}: write a share between 0 and 1, or two with a comma, or study-ID."
        ) from why


def as_json(
    board: Leaderboard,
    pool: str,
    noise: Noise | None,
    without: list[Without],
    reliability: Reliability | None,
) -> dict[str, Any]:
    """Everything that the page shows, by the systems' titles."""
    titles = titles_of(one.run for one in board.standings)
    origins = {one.system: one for one in beside.origins(board.benchmark, board)}
    return {
        "benchmark": str(board.benchmark),
        "pool": pool,
        "metric": board.metric,
        "queries": board.queries,
        "systems": {
            titles[one.run.pk]: system_as_json(one, origins[one.run.system]) for one in board.standings
        },
        "differences": [
            {
                "better": titles[one.better.pk],
                "other": titles[one.other.pk],
                "value": one.value,
                "interval": [one.interval.low, one.interval.high],
                "p_holm": one.p,
                "stays_above": noise.above[place] if noise else None,
            }
            for place, one in enumerate(board.differences)
        ],
        "label_noise": noise and asdict(noise),
        "reliability": reliability
        and reliability_as_json(reliability, [titles[run.pk] for run in board.ordered]),
        "without": {one.encoder: without_as_json(one, titles) for one in without},
        "not_computed": [asdict(one) for one in lacking(board, board.metrics)],
    }


def without_as_json(one: Without, titles: Mapping[int, str]) -> dict[str, Any]:
    return {
        "labels": one.labels,
        "matches": one.matches,
        "values": {titles[run]: value for run, value in one.values.items()},
        "ranks": {titles[run]: rank for run, rank in one.ranks.items()},
    }


def system_as_json(one: Standing, origin: beside.Origin) -> dict[str, Any]:
    """One system's figures by metric, and what has to be known with them."""
    return {
        "run": one.run.pk,
        "system": one.run.system,
        "text_option": one.run.text_option or None,
        "helped_to_mine": one.helped_to_mine,
        "holes_filled": one.was_filled,
        "fewer_judged": one.less_judged,
        "trained_on": origin.trained_on,
        "sees_tasks": origin.sees_tasks,
        "shared_with_annotator": origin.shared or None,
        "coverage": one.run.options.get("coverage"),
        **{name: asdict(figure) for name, figure in one.figures.items()},
    }


def reliability_as_json(of: Reliability, titles: list[str]) -> dict[str, Any]:
    """Alpha, average variance, and each system's mean by number of matches."""
    return {
        "cronbach_alpha": of.alpha,
        "average_variance": of.variance,
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
        f"{name} covers {one['coverage']['judged']:.1%} of the judged snippets"
        for name, one in found["systems"].items()
        if one["coverage"] and one["coverage"]["judged"] is not None
    ]
    about = found["reliability"]
    if about and about["groups"]:
        groups = ", ".join(f"{one['matches']} ({one['queries']:,} queries)" for one in about["groups"])
        figures = (
            ("Cronbach's alpha", about["cronbach_alpha"]),
            ("average variance", about["average_variance"]),
        )
        told = ", ".join(f"{what} {mean_told(value)}" for what, value in figures)
        lines.append(f"reliability over groups of queries with {groups} matches: {told}")
    return lines


def mean_told(value: float | None) -> str:
    return "undefined" if value is None else f"{value:.4f}"


def told(found: dict[str, Any]) -> str:
    """A table for people."""
    over = counted(found["queries"], "query", "queries")
    return "\n".join(
        [
            f"{found['benchmark']}, {found['pool']}: {found['metric']} over {over}",
            *(standing(found, *row) for row in enumerate(found["systems"], 1)),
            *not_computed(found),
            *map(difference, found["differences"]),
            *([FEW_TOLD] if 1 < found["queries"] < FEW else []),
            *coverage_and_reliability(found),
            *label_noise(found["label_noise"]),
        ]
    )


def standing(found: dict[str, Any], rank: int, name: str) -> str:
    """One system's line."""
    one = found["systems"][name]
    left = "".join(f"; without {e} rank {w['ranks'].get(name, '–')}" for e, w in found["without"].items())
    text = one["text_option"] or "not known"
    return f"{rank:3} {name}: {mean_and_ends(one.get(found['metric']))}; text: {text}{marks(one)}{left}"


def mean_and_ends(figure: dict[str, Any] | None) -> str:
    if figure is None:
        return "–"
    between = figure["interval"]
    ends = f" [{between['low']:.4f}, {between['high']:.4f}]" if between else ""
    return f"{mean_told(figure['value'])}{ends}"


def marks(one: dict[str, Any]) -> str:
    """What has to be known of a system beside its figure."""
    shared = one["shared_with_annotator"]
    told = {
        "helped to mine": one["helped_to_mine"],
        "holes filled": one["holes_filled"],
        "fewer judged": one["fewer_judged"],
        beside.SEEN: one["sees_tasks"],
        shared: shared not in (None, *known_systems.UNRELATED),
    }
    return "".join(f"; {mark}" for mark, holds in told.items() if holds)


def not_computed(found: dict[str, Any]) -> list[str]:
    return [
        f"–: {', '.join(one['metrics'])} not computed for {', '.join(one['systems'])}: {one['command']}"
        for one in found["not_computed"]
        if found["metric"] in one["metrics"]
    ]


def difference(one: dict[str, Any]) -> str:
    """One line of two systems that stand next to each other."""
    stays, (low, high) = one["stays_above"], one["interval"]
    above = "" if stays is None else f", stays above in {stays:.1%} of the draws"
    return (
        f"{one['better']} − {one['other']}: {one['value']:.4f} [{low:.4f}, {high:.4f}], "
        f"p {one['p_holm']:.4f} after Holm{above}"
    )


def label_noise(noise: dict[str, Any] | None) -> list[str]:
    if not noise:
        return []
    rates = noise["rates"]
    source = f"{rates['source']}{beside.as_counted(rates['matches_of'], rates['others_of'])}"
    flipped = f"{rates['matches']:.1%} of the matches and {rates['others']:.1%} of the other labels"
    return [f"draws flip {flipped}: {source}"]
