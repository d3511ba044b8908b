"""What was ordered on a benchmark's page: encoders search it and are scored, or its figures are computed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, ClassVar, Final

from django.conf import settings
from django.db import models

from retrieval.encoders import MissingWeights, UnknownEncoder
from retrieval.encoders.rerankers import UnknownReranker, why_reranker_missing
from retrieval.evaluation.content import NoCandidates, content_of, pool_of
from retrieval.evaluation.leaderboard import Leaderboard, Queries, build_leaderboard, digests_of
from retrieval.evaluation.robustness.label_noise import ErrorRates, noise_of
from retrieval.evaluation.robustness.left_out_encoder import NothingToLeaveOut, leave_out
from retrieval.evaluation.runs.jobs import benchmark_of, notes_of
from retrieval.evaluation.runs.system_run import DEFAULT_MEASURES, NameTooLong, evaluate_system
from retrieval.evaluation.systems.names import split_second_stage
from retrieval.evaluation.systems.search import Search, find_system
from retrieval.filters import UnknownTextOption, text_option
from retrieval.index.vectors import DamagedShard
from retrieval.jobs import JobOrder, close_job
from retrieval.management.progress import Stages
from retrieval.metrics.names import parse_measures
from retrieval.mining import known_encoders
from retrieval.models import Job, Pool

Result = dict[str, Any]
REFUSED: Final = (
    DamagedShard,
    MissingWeights,
    NameTooLong,
    NoCandidates,
    NothingToLeaveOut,
    UnknownEncoder,
    UnknownReranker,
    UnknownTextOption,
)


class What(models.TextChoices):
    """What a leaderboard may wait for."""

    SYSTEM = "system", "search and scores"
    FIGURES = "figures", "intervals, differences and label errors"
    WITHOUT = "without", "ranks without each encoder"


class ScoreOrder(JobOrder):
    """Search by encoders and score that, or compute figures, on the benchmark that the job is about.

    `system` is the encoders' names, joined by +, and behind them a reranker if one was chosen. `options` say
    of figures by which metric, over which queries, and which share of labels is taken as wrong.
    """

    kind: ClassVar = Job.Kind.SCORE
    what: What
    pool: Pool
    system: str = ""
    text_option: str = ""
    options: dict[str, Any] = {}

    def identity(self) -> dict[str, Any]:
        """All of it."""
        return self.model_dump(mode="json")


def perform_score_job(job: Job) -> None:
    """Do what was ordered; the job says how that ended, unless it was cancelled meanwhile.

    Doing it twice keeps it once.
    """
    order, progress, result = ScoreOrder.of(job), Stages(job), Result()
    state, message = Job.State.DONE, ""
    try:
        result = DO[order.what](job, order, settings.COSQA_HOME / "vectors", progress)
    except REFUSED as why:
        state, message = Job.State.FAILED, str(why)
    close_job(job, state, message, result=result, done=progress.done, total=progress.total)


def _searched(job: Job, order: ScoreOrder, vectors: Path, progress: Stages) -> Result:
    """Search and score by encoders; the page that shows the run first is computed too."""
    benchmark = benchmark_of(job)
    content = content_of(benchmark)
    how = Search(text_option(order.text_option), pool_of(content, order.pool), vectors, progress=progress)
    measures = parse_measures(DEFAULT_MEASURES.split(","))
    done = evaluate_system(find_system(order.system), content, order.pool, how, measures)
    build_leaderboard(benchmark, order.pool)
    return {"run": done.run.pk, "notes": notes_of(done)}


def _figures(job: Job, order: ScoreOrder, vectors: Path, progress: Stages) -> Result:
    progress("compute the figures", 0, 1)
    board, queries = board_of(job, order)
    ordered = board.ordered
    rates = ErrorRates(**order.options["rates"])
    noise_of(board.benchmark, ordered, digests_of(ordered), board.metric, queries, rates, wait=True)
    progress("compute the figures", 1, 1)
    return {}


def _without(job: Job, order: ScoreOrder, vectors: Path, progress: Stages) -> Result:
    board, queries = board_of(job, order)
    leave_out(board, queries, vectors, progress)
    return {}


DO: Final[Mapping[What, Callable[[Job, ScoreOrder, Path, Stages], Result]]] = {
    What.SYSTEM: _searched,
    What.FIGURES: _figures,
    What.WITHOUT: _without,
}


def board_of(job: Job, order: ScoreOrder) -> tuple[Leaderboard, Queries]:
    """The leaderboard that the order is about."""
    queries = Queries(order.options["fewest"], order.options["most"])
    metric = order.options.get("metric", "")
    return build_leaderboard(benchmark_of(job), order.pool, metric, queries.fewest, queries.most), queries


def encoders_of(job: Job) -> list[str]:
    """Those that its machine must have."""
    order = ScoreOrder.of(job)
    if order.what == What.SYSTEM:
        return [encoder.name for encoder in find_system(order.system).encoders]
    if order.what == What.WITHOUT:
        return [name for mining in benchmark_of(job).minings for name in mining.encoders]
    return []


def find_missing_requirement(job: Job) -> str:
    """What this machine lacks for it, empty where it can be done here, or nowhere."""
    try:
        missing = next(filter(None, map(known_encoders.why_missing, encoders_of(job))), "")
        return missing or find_missing_reranker(job)
    except (UnknownEncoder, UnknownReranker):
        return ""


def find_missing_reranker(job: Job) -> str:
    """What this machine lacks for the second stage of an order. Raises `UnknownReranker`."""
    _, _, reranker = split_second_stage(ScoreOrder.of(job).system)
    return (reranker and why_reranker_missing(reranker)) or ""
