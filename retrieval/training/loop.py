"""The training itself, by transformers' Trainer: checkpoints, best epoch, end by patience or by time.

What is here adds the loss, dev queries instead of an evaluation set, and a mark on whole checkpoints.
"""

from __future__ import annotations

import shutil
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import torch
from safetensors.torch import load_file, save_file
from torch import Tensor, nn
from transformers import Trainer, TrainerCallback, TrainingArguments
from transformers.trainer_callback import PrinterCallback

from retrieval.encoders.dense.architectures import quiet_transformers
from retrieval.training.batches import Collator, TokenizedExamples
from retrieval.training.data import Example, Progress
from retrieval.training.dual_encoders import DualEncoder, shared_once
from retrieval.training.losses import margin_loss, ranking_loss, softmax_loss
from retrieval.training.settings import Settings

Scorer = Callable[[DualEncoder], Mapping[str, float]]
Curve = Sequence[tuple[int, float]]
Epochs = Sequence[Mapping[str, float]]
NoteCurves = Callable[[Curve, Epochs], None]
WHOLE: Final = "whole"
"""The mark in a checkpoint's folder after its last file: without it a kill came between."""
BEST: Final = "best.safetensors"
CURVE_POINTS: Final = 200
KEPT_CHECKPOINTS: Final = 2


class Objective(nn.Module):
    """A model with its loss, as the Trainer takes it."""

    def __init__(self, model: DualEncoder, settings: Settings) -> None:
        super().__init__()
        self.model, self.settings = model, settings

    def forward(
        self,
        query_ids: Tensor,
        query_mask: Tensor,
        snippet_ids: Tensor,
        snippet_mask: Tensor,
        ignored: Tensor | None = None,
    ) -> dict[str, Tensor]:
        queries = self.model.embed("query", query_ids, query_mask)
        snippets = self.model.embed("snippet", snippet_ids, snippet_mask)
        unit = nn.functional.normalize
        products = unit(queries.float(), dim=1) @ unit(snippets.float(), dim=1).T
        if self.settings.loss == "margin":
            return {"loss": margin_loss(products, ignored, self.settings.margin)}
        if self.settings.loss == "ranking":
            return {"loss": ranking_loss(products, ignored, self.settings.margin)}
        return {"loss": softmax_loss(products, ignored, self.settings.scale)}


@dataclass
class Watch(TrainerCallback):
    """Decides when dev queries are asked, checkpoints are written, and training ends.

    `checkpoint_steps`: 0 for one at each epoch's end alone. `minutes`: 0 for no limit.
    """

    settings: Settings
    folder: Path
    has_dev: bool
    checkpoint_steps: int
    minutes: float
    progress: Progress
    note_curves: NoteCurves
    loss_steps: int
    began: float = field(default_factory=time.monotonic)
    stopped: str = ""

    def on_step_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        self.progress("training", state.global_step, state.max_steps)
        if state.global_step % self.loss_steps == 0:
            control.should_log = True
        if self.checkpoint_steps and state.global_step % self.checkpoint_steps == 0:
            control.should_save = control.should_log = True
        if self.minutes and time.monotonic() - self.began > 60 * self.minutes:
            self.stopped = "by time"
            control.should_training_stop = True

    def on_log(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        self.note_curves(*read_curves(state.log_history, self.settings.select_by))

    def on_epoch_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        control.should_log = control.should_save = True
        control.should_evaluate = self.has_dev

    def on_evaluate(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        values = dev_values(state.log_history, self.settings.select_by)
        if len(values) == 1 or values[-1] > max(values[:-1]):
            save_best(kwargs["model"].model, self.folder)
        since = len(values) - 1 - values.index(max(values))
        if self.settings.patience and since >= self.settings.patience:
            self.stopped = "by patience"
            control.should_training_stop = True

    def on_save(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        (self.folder / f"checkpoint-{state.global_step}" / WHOLE).touch()


class DualTrainer(Trainer):
    """The Trainer, which asks dev queries and stores each tensor once."""

    objective: Objective
    scorer: Scorer | None = None
    progress: Progress | None = None

    def evaluate(self, *args: Any, **kwargs: Any) -> dict[str, float]:
        assert self.scorer is not None and self.progress is not None, (
            "on_epoch_end asks only with dev queries"
        )
        self.progress("asking dev queries", self.state.global_step, self.state.max_steps)
        metrics = {f"eval_{name}": value for name, value in self.scorer(self.objective.model).items()}
        self.log(dict(metrics))
        self.control = self.callback_handler.on_evaluate(self.args, self.state, self.control, metrics)
        return metrics

    def _save(self, output_dir: str | None = None, state_dict: Mapping[str, Tensor] | None = None) -> None:
        super()._save(output_dir, shared_once(state_dict or self.objective.state_dict()))


@dataclass(frozen=True, slots=True)
class Trained:
    """What came of a training. `loss`: (step, mean loss since the point before); `dev`: values by epoch.

    `best`: the number in `dev` of the epoch that is kept, None where no dev query chose one.
    """

    steps: int
    planned_steps: int
    epochs: float
    loss: Curve
    dev: Epochs
    best: int | None
    stopped: str
    seconds: float


def train_model(
    model: DualEncoder,
    examples: Sequence[Example],
    settings: Settings,
    folder: Path,
    scorer: Scorer | None,
    progress: Progress,
    *,
    checkpoint_steps: int = 0,
    minutes: float = 0,
    resumes: bool = False,
    note_curves: NoteCurves = lambda loss, dev: None,
) -> Trained:
    """Train `model` in place; it ends with its best weights, or its last ones where there is no scorer.

    `folder` holds checkpoints; with `resumes` it goes on from the newest whole one. On a processor, with as
    many threads, that gives the same weights to the last bit. `note_curves` gets both curves as they grow.
    """
    began = time.monotonic()
    dataset = TokenizedExamples(examples, model, progress)
    drops = settings.drop_last and len(dataset) >= settings.batch_size
    watch = Watch(
        settings, folder, scorer is not None, checkpoint_steps, minutes, progress, note_curves,
        count_loss_steps(len(dataset), settings, drops),
    )  # fmt: skip
    objective = Objective(model, settings)
    with quiet_transformers(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        trainer = DualTrainer(
            model=objective,
            args=training_arguments(settings, folder, drops),
            train_dataset=dataset,
            data_collator=Collator(model.padding, settings.masks_matches),
            callbacks=[watch],
        )
        trainer.remove_callback(PrinterCallback)
        trainer.objective, trainer.scorer, trainer.progress = objective, scorer, progress
        last = newest_checkpoint(folder) if resumes else None
        trainer.train(resume_from_checkpoint=str(last) if last else None)
    loss, dev = read_curves(trainer.state.log_history, settings.select_by)
    state, seconds = trainer.state, time.monotonic() - began
    best = load_best_weights(model, dev, settings, folder)
    epochs = float(state.epoch or 0)
    return Trained(state.global_step, state.max_steps, epochs, loss, dev, best, watch.stopped, seconds)


def count_loss_steps(examples: int, settings: Settings, drops: bool) -> int:
    """After how many steps the loss is noted, so that its curve has about CURVE_POINTS points.

    `drops`: the last batch of an epoch is left out where it is not full.
    """
    full, rest = divmod(examples, settings.batch_size)
    steps = max(1, full if drops else full + bool(rest))
    return max(1, steps * settings.epochs // CURVE_POINTS)


def load_best_weights(model: DualEncoder, dev: Epochs, settings: Settings, folder: Path) -> int | None:
    """Give `model` the weights of its best epoch on the dev queries, and return which one; None without."""
    if not dev:
        return None
    values = [entry[settings.select_by] for entry in dev]
    model.load_state_dict(load_file(folder / BEST), strict=False)
    return values.index(max(values))


def training_arguments(settings: Settings, folder: Path, drops: bool) -> TrainingArguments:
    """The settings in the Trainer's words. AdamW without weight decay is Adam."""
    arguments = TrainingArguments(
        output_dir=str(folder),
        num_train_epochs=settings.epochs,
        per_device_train_batch_size=settings.batch_size,
        learning_rate=settings.learning_rate,
        lr_scheduler_type="linear" if settings.decays else "constant",
        weight_decay=0.0,
        optim="adamw_torch",
        max_grad_norm=settings.clip,
        seed=settings.seed,
        data_seed=settings.seed,
        bf16=settings.mixed_precision,
        dataloader_drop_last=drops,
        dataloader_pin_memory=torch.cuda.is_available(),
        logging_strategy="no",
        save_strategy="no",
        eval_strategy="no",
        save_total_limit=KEPT_CHECKPOINTS,
        remove_unused_columns=False,
        label_names=[],
        report_to=[],
        disable_tqdm=True,
    )
    # Several GPUs would each get a part of the batch, and its queries fewer non-matches.
    arguments._n_gpu = min(1, arguments.n_gpu)
    return arguments


def dev_values(history: Sequence[Mapping[str, float]], measure: str) -> list[float]:
    """The measure after each epoch so far."""
    return [entry[f"eval_{measure}"] for entry in history if f"eval_{measure}" in entry]


def read_curves(history: Epochs, measure: str) -> tuple[Curve, Epochs]:
    """(step, mean loss since the point before), and what was measured on dev queries after each epoch."""
    loss = [(int(entry["step"]), float(entry["loss"])) for entry in history if "loss" in entry]
    return loss, [dev_entry(entry) for entry in history if f"eval_{measure}" in entry]


def dev_entry(entry: Mapping[str, float]) -> dict[str, float]:
    """What the history says of an epoch, without the Trainer's prefix."""
    return {name.removeprefix("eval_"): value for name, value in entry.items()}


def save_best(model: DualEncoder, folder: Path) -> None:
    """Keep these weights as the best ones; a kill leaves the old ones or the new ones."""
    parts = {name: part.detach().cpu().contiguous() for name, part in shared_once(model.state_dict()).items()}
    new = folder / f"{BEST}.new"
    save_file(parts, new)
    new.replace(folder / BEST)


def newest_checkpoint(folder: Path) -> Path | None:
    """The newest checkpoint that was written to its end; later ones that were not are removed."""
    found = sorted(folder.glob("checkpoint-*"), key=lambda path: int(path.name.rpartition("-")[2]))
    for path in found:
        if not (path / WHOLE).is_file():
            shutil.rmtree(path)
    whole = [path for path in found if (path / WHOLE).is_file()]
    return whole[-1] if whole else None
