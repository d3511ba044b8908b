"""What decides a training beside its data, with the settings of the two recipes that papers published."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from types import MappingProxyType
from typing import Any, Final, Literal, TypeAlias

from retrieval.encoders.baselines.baseline_files import BASELINES

Loss: TypeAlias = Literal["softmax", "margin", "ranking"]
Measure: TypeAlias = Literal["ndcg@10", "mrr in batches"]
PAPER_SEED: Final = 123456


@dataclass(frozen=True, slots=True)
class Settings:
    """The defaults fine-tune as the first CoSQA+ paper's repository does.

    `scale` multiplies the products of "softmax", `margin` belongs to the two others. `select_by` is
    measured on the dev queries after each epoch; the best epoch's weights are kept. `patience`: epochs
    without a better value before training ends; 0: never. `drop_last` leaves out a batch that is not full.
    `names_as_queries`: the share of examples that have the function's name as their query.
    """

    epochs: int = 10
    batch_size: int = 64
    learning_rate: float = 2e-5
    decays: bool = True
    clip: float = 1.0
    loss: Loss = "softmax"
    scale: float = 20.0
    margin: float = 1.0
    select_by: Measure = "ndcg@10"
    patience: int = 0
    drop_last: bool = False
    names_as_queries: float = 0.0
    vocabulary: int = 0
    seed: int = PAPER_SEED
    masks_matches: bool = False
    hard_negatives: int = 0
    shuffles_labels: bool = False
    max_pairs: int = 0
    mixed_precision: bool = False

    def __post_init__(self) -> None:
        """Raises `WrongSettings`."""
        for name in ("epochs", "batch_size"):
            if getattr(self, name) < 1:
                raise WrongSettings(f"{name.replace('_', ' ')} has to be at least 1")
        if not 0 < self.learning_rate < 1:
            raise WrongSettings("the learning rate has to be above 0 and below 1")
        if self.hard_negatives and self.loss != "softmax":
            raise WrongSettings(
                f"the {self.loss} loss has no hard negatives; choose softmax, or leave them out"
            )
        if self.hard_negatives and self.shuffles_labels:
            raise WrongSettings("shuffled labels know no judged non-matches; leave the hard negatives out")
        for name in ("patience", "hard_negatives", "max_pairs"):
            if getattr(self, name) < 0:
                raise WrongSettings(f"{name.replace('_', ' ')} can't be below 0")

    def changed(self, given: Mapping[str, Any]) -> Settings:
        """These with those of `given` that are not None. Raises `WrongSettings`."""
        return replace(self, **{name: value for name, value in given.items() if value is not None})


class WrongSettings(ValueError):
    """A setting is out of its range; the message says which."""


FINE_TUNING: Final = Settings()
"""CoSQA+ (`run_evalute_transformer.py`): AdamW without weight decay, linear decay, no warm-up."""

_FROM_SCRATCH: Final = Settings(
    epochs=300,
    batch_size=1000,
    learning_rate=0.01,
    decays=False,
    loss="margin",
    select_by="mrr in batches",
    patience=5,
    drop_last=True,
    names_as_queries=0.1,
    vocabulary=10_000,
    seed=0,
)
"""CodeSearchNet's repository. Its paper names a softmax for all models; the code's default is this margin."""

RECIPES: Final[Mapping[str, Settings]] = MappingProxyType(
    {
        "nbow": _FROM_SCRATCH,
        "cnn": replace(_FROM_SCRATCH, learning_rate=5e-4),
        "birnn": _FROM_SCRATCH,
        "selfattn": replace(_FROM_SCRATCH, learning_rate=5e-4, batch_size=450),
        "selfattn-nbow": replace(_FROM_SCRATCH, learning_rate=5e-4, batch_size=450),
        "ncs": replace(_FROM_SCRATCH, epochs=5, patience=0, drop_last=False, names_as_queries=0.0),
        "unif": replace(_FROM_SCRATCH, learning_rate=1e-3, loss="ranking", margin=0.05, names_as_queries=0.0),
    }
)


def recipe_of(system: str) -> Settings:
    """The published settings for a system by its plain name."""
    return RECIPES[system] if system in BASELINES else FINE_TUNING


def hash_configuration(settings: Settings, data: Mapping[str, Any]) -> str:
    """sha256 of all that decides what is learned: the settings, and `data` about texts, split and start."""
    told = json.dumps({"settings": asdict(settings), "data": data}, sort_keys=True, ensure_ascii=True)
    return hashlib.sha256(told.encode()).hexdigest()
