"""The form of a training: what is learned by which system, and how."""

from __future__ import annotations

from typing import Any, Final

from django import forms
from django.contrib.auth.models import User
from django.db.models import QuerySet
from django.http import QueryDict
from pydantic import TypeAdapter, ValidationError

from annotation.schemas.benchmarks.training import Seed, TrainIn
from annotation.web.shared.forms import attempt, schema_field, set_queryset
from retrieval.encoders import MissingWeights, UnknownEncoder
from retrieval.encoders.baselines.baseline_files import BASELINES
from retrieval.encoders.dense.architectures import PAPERS
from retrieval.filters import TEXT_OPTIONS
from retrieval.jobs import find_open_job, submit_job
from retrieval.models import Benchmark, Job
from retrieval.training.run import CannotTrain, find_trainable
from retrieval.training.settings import WrongSettings, recipe_of
from retrieval.training.training_job import CHECKPOINT_STEPS, TrainOrder

MOST_WAITING: Final = 30
MOST_SEEDS: Final = 10
CHOSEN_BY_RECIPE: Final = (
    "epochs",
    "batch_size",
    "learning_rate",
    "loss",
    "patience",
    "hard_negatives",
    "max_pairs",
)
FOLDED: Final = (
    "other",
    "learning_rate",
    "batch_size",
    "loss",
    "patience",
    "max_pairs",
    "hard_negatives",
    "checkpoint_steps",
    "masks_matches",
    "mixed_precision",
)
SWITCHES: Final = ("shuffles_labels", "masks_matches", "mixed_precision")
RECIPE: Final = "Empty: as in the recipe under More options."


class NotOrdered(ValueError):
    """Nothing was ordered; the message says why."""


class TrainForm(forms.Form):
    """A training for each seed."""

    system = forms.ChoiceField(
        label="System", choices=[(name, name) for name in (*PAPERS, *BASELINES)], required=False
    )
    other = forms.CharField(
        required=False,
        max_length=100,
        label="Other weights",
        help_text="Starts from a folder or a hub id, for example codebert:/models/mine.",
    )
    seeds = forms.CharField(
        required=False,
        max_length=120,
        label="Seeds",
        help_text="One training for each, for example 1, 2, 3. Compare systems by at least three.",
    )
    epochs = schema_field(TrainIn, "epochs", RECIPE)
    minutes = schema_field(
        TrainIn, "minutes", "Stops then; you can continue later. 0: no limit.", label="Minutes", initial=0
    )
    text_option = forms.ChoiceField(
        label="Text of a function",
        choices=[(option, option) for option in TEXT_OPTIONS],
        help_text="Without docstring, if the queries are docstrings.",
    )
    split_seed = schema_field(
        TrainIn,
        "split_seed",
        "Draws train, dev and test, 8:1:1 by matches.",
        required=True,
        label="Seed of the split",
    )
    by_project = forms.BooleanField(
        required=False, label="Split by project", help_text="Matches of one project are in one part."
    )
    without = forms.ModelMultipleChoiceField(
        Benchmark.objects.none(),
        required=False,
        label="Without",
        help_text="Learns none of their judged queries and functions. Choose what you test on.",
    )
    score_on = forms.ModelMultipleChoiceField(
        Benchmark.objects.none(),
        required=False,
        label="Then score on",
        help_text="The trained system searches these benchmarks.",
    )
    shuffles_labels = forms.BooleanField(
        required=False,
        label="Shuffled labels",
        help_text="A control: the same texts and number of pairs, each query with another pair’s function.",
    )
    max_pairs = schema_field(TrainIn, "max_pairs", "Learns so many, drawn by the seed.", label="Pairs")
    masks_matches = forms.BooleanField(
        required=False,
        label="Mask matches",
        help_text="Other matches of a query in the batch are no longer non-matches.",
    )
    hard_negatives = schema_field(
        TrainIn, "hard_negatives", "Judged non-matches with each pair.", label="Hard negatives"
    )
    batch_size = schema_field(TrainIn, "batch_size", RECIPE, label="Batch size")
    learning_rate = forms.FloatField(required=False, label="Learning rate", help_text=RECIPE)
    loss = forms.ChoiceField(
        required=False,
        label="Loss",
        choices=[
            ("", "as in the recipe"),
            ("softmax", "softmax"),
            ("margin", "margin"),
            ("ranking", "ranking"),
        ],
    )
    patience = schema_field(
        TrainIn, "patience", "Ends after so many epochs without a better one.", label="Patience"
    )
    mixed_precision = forms.BooleanField(
        required=False, label="Mixed precision", help_text="bfloat16 where it is safe: faster on a GPU."
    )
    checkpoint_steps = schema_field(
        TrainIn,
        "checkpoint_steps",
        "A stop loses what came after the last one. 0: after each epoch alone.",
        required=True,
        label="Steps between checkpoints",
        initial=CHECKPOINT_STEPS,
    )

    def __init__(
        self, benchmark: Benchmark, visible: QuerySet[Benchmark], data: QueryDict | None = None
    ) -> None:
        super().__init__(data)
        self.benchmark = benchmark
        set_queryset(self, "without", visible.exclude(pk=benchmark.pk))
        set_queryset(self, "score_on", visible)

    def clean_seeds(self) -> list[int]:
        parts = [part for part in self.cleaned_data["seeds"].replace(",", " ").split() if part]
        if len(parts) > MOST_SEEDS:
            raise forms.ValidationError(f"At most {MOST_SEEDS} at once.")
        try:
            seeds = [TypeAdapter(Seed).validate_python(part) for part in parts]
        except ValidationError as why:
            raise forms.ValidationError("Write whole numbers from 0, with commas.") from why
        if len(set(seeds)) < len(seeds):
            raise forms.ValidationError("Name each seed once.")
        return seeds

    def clean(self) -> dict[str, Any]:
        values = super().clean() or {}
        name = values.get("other", "").strip() or values.get("system", "")
        values["name"] = name
        try:
            if not name:
                raise CannotTrain("Choose a system.")
            recipe_of(find_trainable(name).kind).changed(self.chosen_settings())
        except (CannotTrain, MissingWeights, UnknownEncoder) as why:
            self.add_error("system", str(why))
        except WrongSettings as why:
            self.add_error(None, f"{str(why)[:1].upper()}{str(why)[1:]}.")
        return values

    def chosen_settings(self) -> dict[str, Any]:
        """What differs from the recipe."""
        values = self.cleaned_data
        typed = {name: values[name] for name in CHOSEN_BY_RECIPE if values.get(name) not in (None, "")}
        return typed | {name: True for name in SWITCHES if values.get(name)}

    def order(self, user: User) -> list[Job] | None:
        """The orders of a valid form; None, with an error, where too many wait."""
        return attempt(self, lambda: order_trainings(self.benchmark, user, self.orders()), NotOrdered)

    def orders(self) -> list[TrainOrder]:
        """One for each seed; one with the recipe's seed where none is named."""
        values, chosen = self.cleaned_data, self.chosen_settings()
        order = TrainOrder(
            system=values["name"],
            settings=chosen,
            text_option=values["text_option"],
            split_seed=values["split_seed"],
            by_project=values["by_project"],
            without=tuple(map(str, values["without"])),
            minutes=values["minutes"] or 0,
            checkpoint_steps=values["checkpoint_steps"],
            score_on=tuple(benchmark.pk for benchmark in values["score_on"]),
        )
        seeds = values["seeds"] or [None]
        return [
            order if seed is None else order.model_copy(update={"settings": {**chosen, "seed": seed}})
            for seed in seeds
        ]


def order_trainings(benchmark: Benchmark, user: User, orders: list[TrainOrder]) -> list[Job]:
    """The new orders, or those like them that are open. Raises `NotOrdered`."""
    new = [order for order in orders if find_open_job(order, benchmark.pk) is None]
    if Job.objects.open().about(Job.Kind.TRAIN, benchmark.pk).count() + len(new) > MOST_WAITING:
        raise NotOrdered(
            f"{MOST_WAITING} trainings of this benchmark may wait at once: let some finish first."
        )
    return [submit_job(order, user, benchmark.pk)[0] for order in orders]
