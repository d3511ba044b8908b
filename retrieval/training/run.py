"""One training from a benchmark to a folder that an encoder takes."""

from __future__ import annotations

import json
import shutil
import time
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from retrieval.encoders import MissingWeights, find_encoder
from retrieval.encoders.base import Kind
from retrieval.encoders.baselines.baseline_files import BASELINES, NCS
from retrieval.encoders.baselines.baselines import BaselineEncoder
from retrieval.encoders.baselines.learned_texts import write_learned_texts
from retrieval.encoders.dense.architectures import PAPERS
from retrieval.encoders.dense.transformer import TransformerEncoder
from retrieval.encoders.dense.weights import library_fault
from retrieval.texts.small_files import read_small_json
from retrieval.training.card import read_card, write_card, write_whole
from retrieval.training.data import Progress, TrainingData, draw_pairs, make_examples
from retrieval.training.rankings import score_bm25
from retrieval.training.settings import Settings, hash_configuration

if TYPE_CHECKING:
    from retrieval.training.dual_encoders import DualEncoder
    from retrieval.training.loop import Curve, Epochs, NoteCurves, Trained

WORKPLACE: Final = "training"
"""The folder inside the result's where checkpoints lie while it is trained."""
PLAN: Final = "plan.json"
SCRATCH: Final = "random weights"


def ignore_curves(loss: Curve, dev: Epochs) -> None:
    """Nobody looks at the curves before training is over."""


class CannotTrain(ValueError):
    """The system, the folder or this machine does not allow the training; the message says what to do."""


@dataclass(frozen=True, slots=True)
class TrainingOrder:
    """What is trained, and where it is written.

    `checkpoint_steps` and `minutes` are how it is done: they do not count in the configuration's hash.
    """

    system: str
    settings: Settings
    folder: Path
    resumes: bool = False
    checkpoint_steps: int = 0
    minutes: float = 0


def find_trainable(name: str) -> TransformerEncoder | BaselineEncoder:
    """The encoder that is trained. Raises `CannotTrain`, `MissingWeights` and `UnknownEncoder`."""
    encoder = find_encoder(name)
    if isinstance(encoder, BaselineEncoder):
        if encoder.source:
            raise CannotTrain(f"{encoder.kind} starts from random weights; write --system {encoder.kind}.")
        if fault := library_fault():
            raise MissingWeights(f"{name}: {fault}")
        return encoder
    if not isinstance(encoder, TransformerEncoder) or encoder.kind not in PAPERS or not encoder.mask_padding:
        raise CannotTrain(
            f"{name} can't be trained here; choose {', '.join(PAPERS)} (also NAME:FOLDER), or "
            f"{', '.join(BASELINES)}."
        )
    encoder.locate()
    return encoder


def train_system(
    data: TrainingData, order: TrainingOrder, progress: Progress, note_curves: NoteCurves = ignore_curves
) -> dict[str, Any]:
    """Train, measure the test queries, and write the folder; returns what `training.json` holds.

    With `resumes`, a finished training of the same configuration is read, and one that was stopped goes on.
    `note_curves` gets the loss and the dev queries' figures as they grow.
    Raises `CannotTrain`, `MissingWeights` and `NothingToLearn`.
    """
    began, encoder = time.monotonic(), find_trainable(order.system)
    if encoder.kind == NCS and order.minutes:
        raise CannotTrain(f"{NCS} learns words in one go, so it can't be stopped by time; leave minutes out.")
    drawn = draw_pairs(data, order.settings)
    examples = make_examples(drawn, order.settings)
    told = describe_configuration(encoder, drawn, order.settings)
    if finished := prepare_folder(order, told["hash"]):
        return finished
    progress("learning words" if isinstance(encoder, BaselineEncoder) else "loading weights", 0, 0)
    model = make_model(encoder, drawn, order.settings)
    before = None if isinstance(encoder, BaselineEncoder) else measure_test(model, drawn)
    if encoder.kind == NCS:
        trained = describe_words(model, drawn, order.settings, time.monotonic() - began)
    else:
        trained = train_in_workplace(model, drawn, examples, order, progress, note_curves)
    progress("asking test queries", trained.steps, trained.planned_steps)
    after = measure_test(model, drawn)
    rows = {"before training": before, "after training": after}
    if after:
        progress("asking BM25", trained.steps, trained.planned_steps)
        rows["bm25"] = score_bm25(drawn, drawn.test)
    told["result"] = describe_result(trained, drawn, {name: row for name, row in rows.items() if row})
    told["pairs"] = len(examples)
    told["made_with"] = describe_machine(model)
    write_learned_texts(order.folder, drawn.seen_digests)
    write_result(model, order, told, keeps_workplace=trained.stopped == "by time")
    return told


def describe_configuration(
    encoder: TransformerEncoder | BaselineEncoder, data: TrainingData, settings: Settings
) -> dict[str, Any]:
    """What decides the weights, and its hash."""
    start = encoder.identity if isinstance(encoder, TransformerEncoder) else SCRATCH
    told = {"system": encoder.kind, "start": start, "data": {**data.about, "texts": data.digest}}
    return {
        **told,
        "start_licence": licence_of_start(encoder),
        "settings": asdict(settings),
        "hash": hash_configuration(settings, told),
    }


def licence_of_start(encoder: TransformerEncoder | BaselineEncoder) -> str:
    """The licence of the weights before training; empty where there were none."""
    if isinstance(encoder, BaselineEncoder):
        return ""
    return "see the card of that folder" if encoder.source else encoder.known.licence


def prepare_folder(order: TrainingOrder, configuration: str) -> dict[str, Any] | None:
    """Make the folder ready; returns the card where the same training is finished. Raises `CannotTrain`."""
    folder, plan = order.folder, order.folder / WORKPLACE / PLAN
    is_new = not any(path.is_file() and path.suffix != ".new" for path in folder.rglob("*"))
    if not is_new and not order.resumes:
        raise CannotTrain(f"{folder} is not empty; add --resume to continue there, or name another folder.")
    if not is_new:
        known = read_plan(plan) if plan.is_file() else read_card(folder)["hash"]
        if known != configuration:
            raise CannotTrain(
                f"{folder} has another training (its hash begins with {str(known)[:8]}, this one's with "
                f"{configuration[:8]}): settings, texts or weights differ. Name another folder."
            )
        if not plan.is_file():
            return read_card(folder)
    plan.parent.mkdir(parents=True, exist_ok=True)
    write_whole(plan, json.dumps({"hash": configuration}))
    return None


def read_plan(plan: Path) -> str:
    """The hash of the training whose checkpoints lie beside. Raises `CannotTrain`."""
    try:
        return str(read_small_json(plan)["hash"])
    except (KeyError, OSError, TypeError, ValueError) as why:
        raise CannotTrain(f"{plan} can't be read ({why}); name another folder.") from why


def make_model(
    encoder: TransformerEncoder | BaselineEncoder, data: TrainingData, settings: Settings
) -> DualEncoder:
    """The model before training, on the fastest device; random weights come from the settings' seed."""
    import torch
    from transformers import set_seed

    from retrieval.training.dual_encoders import BaselineDual, TransformerDual, WordSettings

    set_seed(settings.seed)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    if isinstance(encoder, TransformerEncoder):
        return TransformerDual.of(encoder).to(device)
    texts: dict[Kind, list[str]] = {
        "query": [data.queries[query] for query, _ in data.train],
        "snippet": [data.snippets[snippet] for _, snippet in data.train],
    }
    words = WordSettings()
    if encoder.kind == NCS:
        words = WordSettings(settings.epochs, settings.learning_rate)
    return BaselineDual.from_texts(encoder.kind, texts, settings.vocabulary, words).to(device)


def measure_test(model: DualEncoder, data: TrainingData) -> dict[str, float] | None:
    """The means of the test queries over the whole code base; None without test queries."""
    from retrieval.training.scores import score_whole_pool

    return score_whole_pool(model, data, data.test) if data.test.queries else None


def train_in_workplace(
    model: DualEncoder,
    data: TrainingData,
    examples: list[Any],
    order: TrainingOrder,
    progress: Progress,
    note_curves: NoteCurves,
) -> Trained:
    """The training, with its checkpoints in the folder's workplace."""
    from retrieval.training.loop import train_model
    from retrieval.training.scores import SCORERS

    measure = SCORERS[order.settings.select_by]
    return train_model(
        model,
        examples,
        order.settings,
        order.folder / WORKPLACE,
        (lambda trained: measure(trained, data, data.dev)) if data.dev.queries else None,
        progress,
        checkpoint_steps=order.checkpoint_steps,
        minutes=order.minutes,
        resumes=order.resumes,
        note_curves=note_curves,
    )


def describe_words(model: DualEncoder, data: TrainingData, settings: Settings, seconds: float) -> Trained:
    """What came of words alone: a mean loss for each epoch, and dev queries at the end."""
    from retrieval.training.dual_encoders import BaselineDual
    from retrieval.training.loop import Trained
    from retrieval.training.scores import SCORERS

    assert isinstance(model, BaselineDual), "only NCS learns words alone"
    epochs, dev = settings.epochs, []
    if data.dev.queries:
        dev = [{"epoch": epochs, "step": epochs, **SCORERS[settings.select_by](model, data, data.dev)}]
    loss = list(enumerate(model.word_losses, 1))
    return Trained(epochs, epochs, float(epochs), loss, dev, None, "", seconds)


def describe_result(
    trained: Trained, data: TrainingData, test: dict[str, dict[str, float]]
) -> dict[str, Any]:
    """Curves, the epoch that was kept, and the figures of the test queries by row; None without any."""
    return {
        "steps": trained.steps,
        "planned_steps": trained.planned_steps,
        "epochs": trained.epochs,
        "stopped": trained.stopped,
        "loss": [list(point) for point in trained.loss],
        "dev": [dict(entry) for entry in trained.dev],
        "best": trained.best,
        "seconds": round(trained.seconds, 1),
        "test": {"queries": len(data.test.queries), "searched": len(data.searched), "rows": test}
        if test
        else None,
    }


def describe_machine(model: DualEncoder) -> dict[str, Any]:
    """What the same weights need: libraries, device and number of threads."""
    import torch

    libraries = {name: version(name) for name in ("torch", "transformers")}
    device = next(model.parameters()).device.type
    return {**libraries, "device": device, "threads": torch.get_num_threads()}


def write_result(
    model: DualEncoder, order: TrainingOrder, told: dict[str, Any], keeps_workplace: bool
) -> None:
    """Write weights, vocabulary and card; the card comes last, and then the checkpoints go."""
    model.to("cpu").save(order.folder)
    write_card(order.folder, told)
    if not keeps_workplace:
        shutil.rmtree(order.folder / WORKPLACE)
