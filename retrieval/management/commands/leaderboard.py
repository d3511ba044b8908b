"""`manage.py leaderboard BENCHMARK`: who stands where, how sure that is, and what pages show afterwards."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser
from tqdm import tqdm

from retrieval.encoders import MissingWeights
from retrieval.evaluation import known_systems
from retrieval.evaluation.content import NoSuchBenchmark, named
from retrieval.evaluation.leaderboard import Leaderboard, Queries, digests_of, leaderboard
from retrieval.evaluation.leaving_out import NothingToLeaveOut, Without, leave_out
from retrieval.evaluation.noise import ASSUMED, ErrorRates, Noise, noise_of
from retrieval.models import Pool


class Command(BaseCommand):
    help = (
        "Lay the newest run of each system side by side: means with intervals, differences, paired tests "
        "after Holm, and how often each stays above the next when labels are wrong. What takes long is kept, "
        "so the benchmark's page shows it at once afterwards."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("benchmark", help="its name, or name@version")
        parser.add_argument("--metric", default="", help="order by it (default: ndcg@10, else mrr@10, mrr)")
        parser.add_argument("--pool", choices=Pool.values, help="default: what the benchmark says")
        parser.add_argument(
            "--matches", default="", metavar="FEWEST[-MOST]", help="only queries with so many matches"
        )
        parser.add_argument(
            "--errors",
            metavar="SHARE[,SHARE]",
            help="share of labels that are wrong: of all, or of matches and of the others "
            f"(default {ASSUMED.matches:g}: {ASSUMED.source})",
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
        queries, rates = queries_of(options["matches"]), rates_of(options["errors"])
        pool = options["pool"] or benchmark.pool
        board = leaderboard(benchmark, pool, options["metric"], queries.fewest, queries.most)
        if not board.standings:
            raise CommandError(f"No run on {benchmark} searched {pool}: 'manage.py evaluate' makes one.")
        ordered = board.ordered
        noise = noise_of(benchmark, ordered, digests_of(ordered), board.metric, queries, rates, wait=True)
        without = self.without(board, queries) if options["leave_one_out"] else []
        found = as_json(board, pool, noise, without)
        self.stdout.write(json.dumps(found, indent=2) if options["json"] else told(found))

    def without(self, board: Leaderboard, queries: Queries) -> list[Without]:
        with tqdm(unit=" texts", disable=None) as bar:

            def tell(stage: str, done: int, total: int) -> None:
                bar.set_description(stage, refresh=False)
                bar.total = total
                bar.update(done - bar.n)

            try:
                return leave_out(board, queries, settings.COSQA_HOME / "vectors", tell)
            except (NothingToLeaveOut, MissingWeights) as why:
                raise CommandError(str(why)) from why


def queries_of(given: str) -> Queries:
    """Queries by number of matches: "2", "2-4", "5-". Raises CommandError."""
    fewest, dash, most = given.partition("-")
    if not given:
        return Queries()
    if not fewest.isdecimal() or (most and not most.isdecimal()):
        raise CommandError(f"--matches {given}: write a number, such as 1, or a range, such as 2-4 or 5-.")
    return Queries(int(fewest), (int(most) if most else None) if dash else int(fewest))


def rates_of(given: str | None) -> ErrorRates:
    """One share for all labels, or two. Raises CommandError."""
    if given is None:
        return ASSUMED
    try:
        shares = [float(one) for one in given.split(",")]
        return ErrorRates(shares[0], shares[-1], "as given") if len(shares) < 3 else ErrorRates(-1, -1, "")
    except ValueError as why:
        raise CommandError(f"--errors {given}: write a share between 0 and 1, or two with a comma.") from why


def as_json(board: Leaderboard, pool: str, noise: Noise | None, without: list[Without]) -> dict[str, Any]:
    """Everything that the page shows, by the systems' titles."""
    titles = {one.run.pk: one.run.title for one in board.standings}
    return {
        "benchmark": str(board.benchmark),
        "pool": pool,
        "metric": board.metric,
        "queries": board.queries,
        "systems": {
            one.run.title: {
                "run": one.run.pk,
                "helped_to_mine": one.helped_to_mine,
                "fewer_judged": one.less_judged,
                "trained_on": known_systems.trained_on(one.run.system),
                **{name: asdict(figure) for name, figure in one.figures.items()},
            }
            for one in board.standings
        },
        "differences": [
            {
                "better": one.better.title,
                "other": one.other.title,
                "value": one.value,
                "interval": [one.interval.low, one.interval.high],
                "p_holm": one.p,
                "stays_above": noise.above[place] if noise else None,
            }
            for place, one in enumerate(board.differences)
        ],
        "label_noise": noise and asdict(noise),
        "without": {
            one.encoder: {
                "labels": one.labels,
                "matches": one.matches,
                "values": {titles[run]: value for run, value in one.values.items()},
                "ranks": {titles[run]: rank for run, rank in one.ranks.items()},
            }
            for one in without
        },
    }


def told(found: dict[str, Any]) -> str:
    """A table for people."""
    metric = found["metric"]
    lines = [f"{found['benchmark']}, {found['pool']}: {metric} over {found['queries']:,} queries"]
    for rank, (name, one) in enumerate(found["systems"].items(), 1):
        figure = one.get(metric)
        value = "–" if figure is None or figure["value"] is None else f"{figure['value']:.4f}"
        between = figure and figure["interval"]
        ends = f" [{between['low']:.4f}, {between['high']:.4f}]" if between else ""
        marks = "; helped to mine" * one["helped_to_mine"] + "; fewer judged" * one["fewer_judged"]
        left = "".join(f"; without {e} rank {w['ranks'].get(name, '–')}" for e, w in found["without"].items())
        lines.append(f"{rank:3} {name}: {value}{ends}{marks}{left}")
    for one in found["differences"]:
        above = (
            "" if one["stays_above"] is None else f", stays above in {one['stays_above']:.1%} of the draws"
        )
        low, high = one["interval"]
        lines.append(
            f"{one['better']} − {one['other']}: {one['value']:.4f} [{low:.4f}, {high:.4f}], "
            f"p {one['p_holm']:.4f} after Holm{above}"
        )
    if found["label_noise"]:
        rates = found["label_noise"]["rates"]
        lines.append(
            f"draws flip {rates['matches']:.1%} of the matches and {rates['others']:.1%} of the other "
            f"labels: {rates['source']}"
        )
    return "\n".join(lines)
