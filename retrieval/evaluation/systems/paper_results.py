"""What the papers report, as printed in `reported.toml`, to stand next to what is measured here."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

LANGUAGES: Final = ("Go", "Java", "JavaScript", "PHP", "Python", "Ruby", "mean")
"""The columns of CodeSearchNet's tables."""
LEARNED: Final = ("None", "CoSQA", "CoSQA+")
_DATA: Final[Mapping[str, Any]] = tomllib.loads(Path(__file__).with_name("reported.toml").read_text("utf-8"))


@dataclass(frozen=True, slots=True)
class ReportedSystem:
    """A row of a table of systems. `like`: the name here of a system like it, empty for none.

    `figures` by metric; `languages`: by metric the figures of `LANGUAGES`. A row has one of both.
    """

    name: str
    like: str
    figures: Mapping[str, float] = field(default_factory=dict)
    languages: Mapping[str, tuple[float, ...]] = field(default_factory=dict)

    @property
    def metrics(self) -> tuple[str, ...]:
        return (*self.figures, *self.languages)


@dataclass(frozen=True, slots=True)
class ReportedTable:
    """A paper's table of systems: where it stands, what it leaves open, and its rows of the same metrics."""

    key: str
    where: str
    left_open: str
    rows: tuple[ReportedSystem, ...]

    @property
    def metrics(self) -> tuple[str, ...]:
        return self.rows[0].metrics

    @property
    def by_language(self) -> bool:
        return bool(self.rows[0].languages)


@dataclass(frozen=True, slots=True)
class ReportedTraining:
    """A row of a paper's table: a system by its name here, what it learned, and its figures by metric."""

    where: str
    name: str
    system: str
    learned: str
    figures: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class ReportedAnnotator:
    """Who annotates how well: accuracy and alpha as printed, empty where the paper gives none."""

    who: str
    criterion: str
    accuracy: str
    alpha: str
    on: str
    where: str


@dataclass(frozen=True, slots=True)
class ReportedChoice:
    """How often people found the first benchmark's answer better, and the second's, as printed."""

    first: str
    second: str
    shares: tuple[str, str]
    on: str
    where: str


def _tables() -> Iterator[ReportedTable]:
    for key, told in _DATA["tables"].items():
        rows = tuple(
            ReportedSystem(
                row["name"],
                row["like"],
                row.get("figures", {}),
                {metric: tuple(values) for metric, values in row.get("languages", {}).items()},
            )
            for row in _DATA["systems"]
            if row["table"] == key
        )
        yield ReportedTable(key, told["where"], told["open"], rows)


REPORTED_TABLES: Final = tuple(_tables())
REPORTED_TRAINING: Final = tuple(
    ReportedTraining(
        row["where"],
        row["name"],
        row["system"],
        learned,
        {metric: values[place] for metric, values in row["figures"].items()},
    )
    for row in _DATA["training"]
    for place, learned in enumerate(LEARNED)
)
"""Both test on CodeSearchNet's Python queries. Neither says what is searched, nor how many seeds were run."""
REPORTED_ANNOTATORS: Final = tuple(
    ReportedAnnotator(who, told["criterion"], accuracy, alpha, told["on"], told["where"])
    for told in _DATA["annotators"]
    for who, accuracy, alpha in told["rows"]
)
REPORTED_CHOICES: Final = tuple(
    ReportedChoice(row["first"], row["second"], (row["shares"][0], row["shares"][1]), row["on"], row["where"])
    for row in _DATA["choices"]
)
