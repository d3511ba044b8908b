"""What the papers report of systems before and after training, as printed, beside what is measured here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class ReportedTraining:
    """A row of a paper's table: a system by its name here, what it learned, and its figures by metric."""

    where: str
    name: str
    system: str
    learned: str
    figures: Mapping[str, float]


LEARNED: Final = ("None", "CoSQA", "CoSQA+")
AGENTS: Final = "CoSQA+, agents paper, Table 2"
FIRST: Final = "CoSQA+, first paper, Table 2"
_AGENTS: Final[Mapping[str, Mapping[str, tuple[float, float, float]]]] = {
    "codebert": {"mrr": (0.952, 0.939, 0.966), "ndcg@10": (0.958, 0.937, 0.962)},
    "unixcoder": {"mrr": (0.891, 0.951, 0.954), "ndcg@10": (0.890, 0.946, 0.952)},
    "codet5p": {"mrr": (0.794, 0.938, 0.940), "ndcg@10": (0.806, 0.943, 0.951)},
}
_FIRST: Final[Mapping[str, Mapping[str, tuple[float, float, float]]]] = {
    "codebert": {"mrr": (0.952, 0.939, 0.961), "mmrr": (0.882, 0.844, 0.899)},
    "unixcoder": {"mrr": (0.891, 0.951, 0.954), "mmrr": (0.711, 0.857, 0.884)},
    "codet5p": {"mrr": (0.794, 0.938, 0.953), "mmrr": (0.504, 0.860, 0.889)},
}
NAMES: Final = {"codebert": "CodeBERT", "unixcoder": "UniXcoder", "codet5p": "CodeT5+ embedding"}

REPORTED_TRAINING: Final = tuple(
    ReportedTraining(
        where,
        NAMES[system],
        system,
        learned,
        {metric: values[place] for metric, values in figures.items()},
    )
    for where, table in ((AGENTS, _AGENTS), (FIRST, _FIRST))
    for system, figures in table.items()
    for place, learned in enumerate(LEARNED)
)
"""Both test on CodeSearchNet's Python queries. Neither says what is searched, nor how many seeds were run."""
