"""What was ordered on a benchmark's page: encoders search it and are scored, or its figures are computed."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

from django.utils import timezone

from retrieval import known_encoders
from retrieval.encoders import MissingWeights, UnknownEncoder
from retrieval.evaluation.content import NoCandidates, content_of, pool_of
from retrieval.evaluation.leaderboard import Leaderboard, Queries, digests_of, leaderboard
from retrieval.evaluation.leaving_out import NothingToLeaveOut, leave_out
from retrieval.evaluation.noise import ErrorRates, noise_of
from retrieval.evaluation.run_jobs import notes_of
from retrieval.evaluation.running import DEFAULT_MEASURES, NameTooLong, evaluate_system
from retrieval.evaluation.systems import Search, system
from retrieval.filters import UnknownTextOption, text_option
from retrieval.management.progress import Stages
from retrieval.metrics.names import measures
from retrieval.models import Benchmark, Pool, ScoreJob
from retrieval.vectors import DamagedShard

Columns = dict[str, Any]
What = ScoreJob.What
REFUSED: Final = (
    DamagedShard,
    MissingWeights,
    NameTooLong,
    NoCandidates,
    NothingToLeaveOut,
    UnknownEncoder,
    UnknownTextOption,
)


def perform(job: ScoreJob, vectors: Path) -> None:
    """Do what was ordered; the job says how that ended, unless it was cancelled meanwhile.

    `vectors` is the folder of the vector store. Doing it twice keeps it once.
    """
    progress = Stages(job)
    try:
        ended = {"state": ScoreJob.State.DONE, "message": "", **DO[What(job.what)](job, vectors, progress)}
    except REFUSED as why:
        ended = {"state": ScoreJob.State.FAILED, "message": str(why)}
    ended |= {"done": progress.done, "total": progress.total, "lease_until": None}
    running = ScoreJob.objects.filter(pk=job.pk, state=ScoreJob.State.RUNNING)
    running.update(**ended, finished_at=timezone.now())


def _searched(job: ScoreJob, vectors: Path, progress: Stages) -> Columns:
    """Search and score by encoders; the page that shows the run first is computed too."""
    pool, content = Pool(job.pool), content_of(job.benchmark)
    how = Search(text_option(job.text_option), pool_of(content, pool), vectors, progress=progress)
    done = evaluate_system(system(job.system), content, pool, how, measures(DEFAULT_MEASURES.split(",")))
    leaderboard(job.benchmark, pool)
    return {"run": done.run, "notes": notes_of(done)}


def _figures(job: ScoreJob, vectors: Path, progress: Stages) -> Columns:
    progress("compute the figures", 0, 1)
    board, queries = board_of(job)
    ordered = board.ordered
    rates = ErrorRates(**job.options["rates"])
    noise_of(job.benchmark, ordered, digests_of(ordered), board.metric, queries, rates, wait=True)
    progress("compute the figures", 1, 1)
    return {}


def _without(job: ScoreJob, vectors: Path, progress: Stages) -> Columns:
    board, queries = board_of(job)
    leave_out(board, queries, vectors, progress)
    return {}


DO: Final[Mapping[str, Callable[[ScoreJob, Path, Stages], Columns]]] = {
    What.SYSTEM: _searched,
    What.FIGURES: _figures,
    What.WITHOUT: _without,
}


def board_of(job: ScoreJob) -> tuple[Leaderboard, Queries]:
    """The leaderboard that the order is about."""
    queries = Queries(job.options["fewest"], job.options["most"])
    board = leaderboard(job.benchmark, job.pool, job.options.get("metric", ""), queries.fewest, queries.most)
    return board, queries


def digest_of(benchmark: Benchmark, columns: Mapping[str, Any]) -> str:
    """What makes two orders the same one."""
    return hashlib.sha256(json.dumps([benchmark.pk, columns], sort_keys=True).encode()).hexdigest()


def encoders_of(job: ScoreJob) -> list[str]:
    """Those that its machine must have."""
    if job.what == What.SYSTEM:
        return [one.name for one in system(job.system).encoders]
    if job.what == What.WITHOUT:
        return [name for mining in job.benchmark.minings for name in mining.encoders]
    return []


def lacks(job: ScoreJob) -> str:
    """What this machine lacks for it, empty where it can be done here, or nowhere."""
    try:
        return next(filter(None, map(known_encoders.why_missing, encoders_of(job))), "") or ""
    except UnknownEncoder:
        return ""


def cancel(job: ScoreJob) -> bool:
    """Cancel an open order; says whether it was open. The vectors that it made are kept, and used again."""
    open_one = ScoreJob.objects.filter(pk=job.pk, state__in=ScoreJob.OPEN)
    now = timezone.now()
    return bool(open_one.update(state=ScoreJob.State.CANCELLED, lease_until=None, finished_at=now))
