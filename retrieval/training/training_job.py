"""A training that was ordered on a page: performed by a worker, stopped, and continued from a checkpoint."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Final

from django.conf import settings

from retrieval.encoders import MissingWeights, UnknownEncoder
from retrieval.evaluation.content import NoSuchBenchmark, find_named_benchmark
from retrieval.evaluation.runs.score_jobs import ScoreOrder, What
from retrieval.exporting.content import NothingToExport
from retrieval.filters import UnknownTextOption, text_option
from retrieval.jobs import JobOrder, close_job, reopen_job, submit_job
from retrieval.management.progress import Stages, record_job_progress
from retrieval.models import Benchmark, Job, Pool
from retrieval.training.benchmark_data import Choice, load_training_data
from retrieval.training.card import NoCard
from retrieval.training.data import NothingToLearn
from retrieval.training.run import CannotTrain, TrainingOrder, find_trainable, train_system
from retrieval.training.settings import WrongSettings, recipe_of

if TYPE_CHECKING:
    from retrieval.training.loop import Curve, Epochs

REFUSED: Final = (
    CannotTrain,
    MissingWeights,
    NoCard,
    NoSuchBenchmark,
    NothingToExport,
    NothingToLearn,
    UnknownEncoder,
    UnknownTextOption,
    WrongSettings,
)
BY_TIME: Final = "by time"
SECONDS_BETWEEN_CURVES: Final = 1.0
CHECKPOINT_STEPS: Final = 1000
"""Steps after which a job writes a checkpoint, so that a stop in a long epoch loses little."""


class TrainOrder(JobOrder):
    """Train `system` on the benchmark that the job is about.

    `settings` are those that differ from the system's recipe. `without`: benchmarks of which nothing may be
    learned, as name@version. `score_on`: ids of benchmarks that the trained system searches afterwards.
    """

    kind: ClassVar = Job.Kind.TRAIN
    system: str
    settings: dict[str, Any] = {}
    text_option: str = "whole"
    split_seed: int = 1
    by_project: bool = False
    without: tuple[str, ...] = ()
    minutes: float = 0
    checkpoint_steps: int = CHECKPOINT_STEPS
    score_on: tuple[int, ...] = ()

    def identity(self) -> dict[str, Any]:
        """All of it."""
        return self.model_dump(mode="json")


class CurveNotes:
    """Notes the curves in the job, once a second; `latest` has them all."""

    def __init__(self, job: Job) -> None:
        self.job, self.latest, self.noted = job, dict[str, Any](), 0.0

    def __call__(self, loss: Curve, dev: Epochs) -> None:
        self.latest = {"loss": [list(point) for point in loss], "dev": [dict(entry) for entry in dev]}
        if time.monotonic() - self.noted > SECONDS_BETWEEN_CURVES:
            self.noted = time.monotonic()
            record_job_progress(self.job, result={"curves": self.latest})


def perform_train_job(job: Job) -> None:
    """Train, or go on from the last checkpoint; the job says how that ended, unless it was stopped meanwhile.

    The result has the folder and what its `training.json` holds.
    """
    # Before torch is loaded: threads that wait leave the processor to others.
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    order, progress, curves = TrainOrder.of(job), Stages(job), CurveNotes(job)
    state, message, result = Job.State.DONE, "", dict[str, Any](job.result)
    try:
        choice = choose_data(Benchmark.objects.get(pk=job.subject), order)
        data = load_training_data(choice, progress)
        folder = folder_of(job)
        card = train_system(data, order_of_folder(order, folder), progress, curves)
        result = {"folder": str(folder), "encoder": f"{card['system']}:{folder}", "card": card}
        message = describe_end(card)
    except REFUSED as why:
        state, message = Job.State.FAILED, str(why)
        result = {"curves": curves.latest} if curves.latest else result
    close_job(job, state, message, result=result, done=progress.done, total=progress.total)
    if job.state == Job.State.DONE:
        order_scores(job, order)


def choose_data(benchmark: Benchmark, order: TrainOrder) -> Choice:
    """What is learned. Raises `NoSuchBenchmark` and `UnknownTextOption`."""
    return Choice(
        benchmark,
        text_option(order.text_option),
        order.split_seed,
        order.by_project,
        [find_named_benchmark(name) for name in order.without],
    )


def order_of_folder(order: TrainOrder, folder: Path) -> TrainingOrder:
    """How it is learned, with the recipe's values for what was left out.

    Raises `CannotTrain`, `MissingWeights`, `UnknownEncoder` and `WrongSettings`.
    """
    chosen = recipe_of(find_trainable(order.system).kind).changed(order.settings)
    return TrainingOrder(order.system, chosen, folder, True, order.checkpoint_steps, order.minutes)


def folder_of(job: Job) -> Path:
    """Where the job's weights and checkpoints lie."""
    kind = TrainOrder.of(job).system.partition(":")[0]
    return Path(settings.COSQA_HOME).absolute() / "trained" / f"{kind}-job-{job.pk}"


def describe_end(card: Mapping[str, Any]) -> str:
    """That the time was over; empty where training went to its end."""
    result = card["result"]
    return f"Stopped by time after {result['epochs']:.2f} epochs" if result["stopped"] == BY_TIME else ""


def order_scores(job: Job, order: TrainOrder) -> None:
    """Have what was trained search the benchmarks that the order names, those that are still there."""
    for benchmark in Benchmark.objects.filter(pk__in=order.score_on):
        wanted = ScoreOrder(
            what=What.SYSTEM,
            system=job.result["encoder"],
            text_option=order.text_option,
            pool=Pool(benchmark.pool),
        )
        submit_job(wanted, job.created_by, benchmark.pk)


def can_continue(job: Job) -> bool:
    """Whether there is more to train: it was stopped by a person or by time, or it failed."""
    if job.state in (Job.State.CANCELLED, Job.State.FAILED):
        return True
    return job.state == Job.State.DONE and job.result["card"]["result"]["stopped"] == BY_TIME


def continue_training(job: Job) -> bool:
    """Go on from the last checkpoint, with as many minutes as before; says whether that was possible."""
    return can_continue(job) and reopen_job(job)


def list_trained_encoders(most: int) -> list[str]:
    """The names of the newest systems that jobs have trained, as an encoder is named."""
    done = Job.objects.filter(kind=Job.Kind.TRAIN, state=Job.State.DONE).order_by("-pk")
    return [str(result["encoder"]) for result in done.values_list("result", flat=True)[:most]]


def find_missing_requirement(job: Job) -> str:
    """What this machine lacks for a training, empty where it can be done here, or nowhere."""
    try:
        find_trainable(TrainOrder.of(job).system)
    except MissingWeights as why:
        return str(why)
    except (CannotTrain, UnknownEncoder):
        return ""
    return ""
