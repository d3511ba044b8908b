"""How stages, labels, events and outcomes are said on every page: by sign and word, never by colour alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import floor, log10
from typing import Final, Literal, Protocol

from annotation.models.builds.build import NANO
from annotation.stages import Event, Stage
from sandbox.reports.report import Outcome


class Interval(Protocol):
    """A figure with both ends of its interval, None where there are none."""

    @property
    def low(self) -> float | None: ...
    @property
    def high(self) -> float | None: ...


Tone = Literal["good", "bad", "warn", "info", "quiet"]


@dataclass(frozen=True, slots=True)
class Sign:
    """A state as people read it. `tone` only repeats in colour what `mark` and `word` say."""

    mark: str
    word: str
    tone: Tone = "quiet"

    def __str__(self) -> str:
        return f"{self.mark} {self.word}"


MATCH: Final = Sign("✓", "match", "good")
NO_MATCH: Final = Sign("✗", "no match", "bad")
UNJUDGED: Final = Sign("–", "unjudged", "quiet")
UNSURE: Final = Sign("?", "unsure", "quiet")
ABANDONED: Final = Sign("!", "abandoned", "warn")

STAGES: Final[Mapping[str, Sign]] = {
    Stage.SCREENING: Sign("…", "screening"),
    Stage.READING: Sign("…", "reading"),
    Stage.WRITING_TEST: Sign("…", "writing test"),
    Stage.EXECUTING: Sign("…", "executing"),
    Stage.FIXING: Sign("…", "fixing"),
    Stage.ARBITRATING: Sign("…", "arbitrating"),
    Stage.TIE_BREAKING: Sign("…", "tie breaking"),
    Stage.SETTLED: Sign("■", "settled", "good"),
    Stage.ABANDONED: ABANDONED,
}

EVENTS: Final[Mapping[str, Sign]] = {
    Event.MATCH: MATCH,
    Event.NO_MATCH: NO_MATCH,
    Event.UNCLEAR: Sign("?", "unclear, to be tested"),
    Event.TO_READER: Sign("?", "unclear, to be read and tested"),
    Event.SPOT_CHECK: Sign("?", "clear, tested as a spot check"),
    Event.READ: Sign("◉", "read without a test"),
    Event.CONTRASTED: Sign("≠", "neighbour of the task written"),
    Event.WRITTEN: Sign("✎", "test program written"),
    Event.REJECTED_PROGRAM: Sign("↺", "test program sent back", "warn"),
    Event.EXECUTED: Sign("▶", "executed"),
    Event.MISSING_MODULE: Sign("!", "module missing", "warn"),
    Event.TESTED_NOTHING: Sign("↺", "tested nothing, a second test is written", "warn"),
    Event.FIXED: Sign("+", "dependencies added"),
    Event.REFUSED: Sign("⊘", "installation refused", "warn"),
    Event.ACCEPTED: MATCH,
    Event.DENIED: NO_MATCH,
    Event.DISPUTED: Sign("⇄", "reader and arbiter differ", "warn"),
    Event.GAVE_UP: ABANDONED,
    Event.RETRIED: Sign("↺", "retried"),
}

OUTCOMES: Final[Mapping[str, Sign]] = {
    Outcome.PASSED: Sign("✓", "passed", "good"),
    Outcome.FAILED: Sign("✗", "failed", "bad"),
    Outcome.ERRORED: Sign("!", "errored", "bad"),
    Outcome.UNTESTED: Sign("○", "tested nothing", "warn"),
    Outcome.UNPROVEN: Sign("≈", "not proven", "warn"),
    Outcome.NOT_APPLICABLE: Sign("≠", "not applicable", "quiet"),
    Outcome.TIMED_OUT: Sign("◷", "timed out", "warn"),
    Outcome.OUT_OF_MEMORY: Sign("▮", "out of memory", "warn"),
    Outcome.OUTPUT_OVERFLOW: Sign("≫", "too much output", "warn"),
    Outcome.DEPENDENCY_REFUSED: Sign("⊘", "dependency refused", "warn"),
    Outcome.UNAVAILABLE: Sign("?", "sandbox unavailable", "quiet"),
}

WORKERS: Final[Mapping[str, str]] = {
    Stage.SCREENING: "screener",
    Stage.READING: "reader",
    Stage.WRITING_TEST: "test writer",
    Stage.EXECUTING: "sandbox",
    Stage.FIXING: "fixer",
    Stage.ARBITRATING: "arbiter",
    Stage.TIE_BREAKING: "tie breaker",
    Stage.ABANDONED: "person",
}
"""Who moves a case on from a stage."""


def label_sign(label: int | None) -> Sign:
    """A binary label; None is unjudged, never a 0."""
    if label is None:
        return UNJUDGED
    return MATCH if label == 1 else NO_MATCH


def case_sign(stage: str, label: int | None) -> Sign:
    """What is known of a case: its label once settled, else that it was abandoned or is unjudged."""
    return ABANDONED if stage == Stage.ABANDONED else label_sign(label)


def format_dollars(nanodollars: float) -> str:
    """Money with the digits that matter: `$1.25`, `$0.0042`, `$0`."""
    amount = nanodollars / NANO
    if amount == 0:
        return "$0"
    return f"${amount:,.2f}" if amount >= 0.1 else f"${amount:.2g}" if amount >= 0.0001 else "< $0.0001"


def format_cost(nanodollars: float) -> str:
    """Money to a whole nanodollar, as `format_dollars` writes it."""
    return format_dollars(round(nanodollars))


def small_dollars(nanodollars: float) -> str:
    """Money however small, to two digits: `$0.00062`."""
    amount = nanodollars / NANO
    digits = max(2, 1 - floor(log10(amount))) if amount > 0 else 0
    return f"${amount:,.{digits}f}"


def format_percent(part: float, whole: float, none: str = "–") -> str:
    """`12.5 %` of the whole; `none` where there is nothing to divide by."""
    return f"{100 * part / whole:.1f} %" if whole else none


def format_interval(found: Interval | None, write: Callable[[float], str]) -> str:
    """`0.1 to 0.3`, each end as `write` writes it; empty where there is none."""
    if found is None or found.low is None or found.high is None:
        return ""
    return f"{write(found.low)} to {write(found.high)}"


def format_duration(seconds: float) -> str:
    """A short time: `0 ms`, `35 ms`, `1.2 s`, `3 min 5 s`."""
    if seconds < 1:
        return f"{round(seconds * 1000)} ms"
    if seconds < 60:
        return f"{seconds:.1f} s"
    return f"{int(seconds) // 60} min {int(seconds) % 60} s"
