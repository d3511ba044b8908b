"""`manage.py rerank BENCHMARK --system NAME --model NAME`: a language model ranks the first results again."""

from __future__ import annotations

import json
from typing import Any

from django.core.management.base import CommandParser

from annotation.accounts.actors import AtShell
from annotation.agents.reranker import MOST_AT_ONCE
from annotation.derived.reranking.ranking_job import (
    RerankOrder,
    RerankRefused,
    find_first_stage,
    open_ranking_build,
)
from annotation.derived.reranking.reranked_run import Ranked, keep_reranked_run, rerank_run
from annotation.jobs.providers import llm_of
from annotation.management import derived_options
from annotation.management.derived_options import parse_dollars
from annotation.models import Build
from retrieval.evaluation.content import NoSuchBenchmark, find_named_benchmark
from retrieval.evaluation.leaderboard import precompute_leaderboards
from retrieval.management.bars import open_bar
from retrieval.management.light import LightCommand
from retrieval.texts.plurals import count_noun

USUAL_DEPTH = 20


class Command(LightCommand):
    help = (
        "Have a language model rank the first results of a system's run again, a request for each query, and "
        "keep the lists as a run of 'SYSTEM >DEPTH> llm:MODEL'. By file, the requests wait: write them with "
        "'cosqa exchange export', take the replies, and give this command again. A build pays and keeps the "
        "replies; nothing is asked twice."
    )
    refusals = (NoSuchBenchmark, RerankRefused)

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("benchmark", help="its name, or name@version")
        parser.add_argument("--system", required=True, help="the first stage, as the leaderboard calls it")
        parser.add_argument(
            "--depth",
            type=int,
            default=USUAL_DEPTH,
            help=f"results of each query, 2 to {MOST_AT_ONCE} (default %(default)s); those below stay",
        )
        derived_options.add_answering(
            parser, default=Build.Provider.EXCHANGE.value, model="any", like="(default %(default)s)"
        )
        parser.add_argument("--json", action="store_true", help="print one JSON object")

    def handle(self, *args: Any, **options: Any) -> None:
        order = read_order(options)
        build = open_ranking_build(order, AtShell.now())
        with open_bar(unit=" queries", desc="asking") as bar:

            def tick(done: int, total: int) -> None:
                bar.total = total
                bar.update(done - bar.n)

            ranked = rerank_run(order, build, llm_of(build), tick)
        told = self.tell_waiting(build, ranked) if ranked.waiting else self.tell_run(order, build, ranked)
        if options["json"]:
            self.stdout.write(json.dumps({"build": build.name, "system": order.system, **told}))

    def tell_waiting(self, build: Build, ranked: Ranked) -> dict[str, Any]:
        """How many requests wait, and what to do with them."""
        waiting = count_noun(ranked.waiting, "request")
        self.stderr.write(
            f"{waiting} of build {build.pk}: cosqa exchange export {build.pk} --out FILE; answer them; cosqa "
            f"exchange import {build.pk} REPLIES; then give this command again.",
            str,
        )
        return {"waiting": ranked.waiting, "answered": len(ranked.calls), "run": None}

    def tell_run(self, order: RerankOrder, build: Build, ranked: Ranked) -> dict[str, Any]:
        """The run that was kept, and what it took."""
        done = keep_reranked_run(order, build, ranked)
        precompute_leaderboards(order.run.benchmark, done.run.pool)
        stage = done.run.options["second_stage"]
        told = {name: stage[name] for name in ("pairs", "requests", "unusable", "usd", "seconds")}
        self.stderr.write(
            f"run {done.run.pk}: {count_noun(stage['pairs'], 'pair')} ranked again, "
            f"{count_noun(stage['unusable'], 'reply', 'replies')} of no use, ${stage['usd']:.4f}",
            str,
        )
        figures = {name: figure.value for name, figure in done.figures.items()}
        return {"waiting": 0, "run": done.run.pk, **told, "figures": figures}


def read_order(options: dict[str, Any]) -> RerankOrder:
    """What was asked for. Raises CommandError, NoSuchBenchmark and RerankRefused."""
    benchmark = find_named_benchmark(options["benchmark"])
    return RerankOrder(
        find_first_stage(benchmark, options["system"]),
        options["depth"],
        options["model"],
        options["provider"],
        options["recorded"],
        parse_dollars(options["budget"]),
        options["unpriced"],
    )
