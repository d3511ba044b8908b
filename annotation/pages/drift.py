"""What a build's page shows of its drift check: the checks so far, the one asked now, and the bill."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from annotation.drift.asking import AGENT
from annotation.drift.chance import level_of
from annotation.drift.watching import next_at
from annotation.models import AgentBill, Build, DriftAnswer, DriftCheck, DriftWatch, Tally
from annotation.pages.words import Sign

SHOWN: Final = 20
NO_SHIFT: Final = Sign("✓", "within chance", "good")
SHIFT: Final = Sign("!", "a shift", "bad")
BASELINE: Final = Sign("·", "baseline", "quiet")
ASKED_NOW: Final = Sign("…", "is asked now", "quiet")


@dataclass(frozen=True)
class Row:
    """One check; `answered` of `asked` questions have their answer."""

    check: DriftCheck
    sign: Sign
    asked: int
    answered: int

    @property
    def pairs(self) -> int:
        found = self.check
        return found.agreed + found.up + found.down + found.unlike

    @property
    def p_value(self) -> str:
        """To two digits, however small; a dash where nothing is tested."""
        return "–" if self.check.p_value is None else f"{self.check.p_value:.2g}"


@dataclass(frozen=True)
class Card:
    """The drift check on its build's page, the newest check first. `next_at` is None where none follows."""

    watch: DriftWatch
    rows: tuple[Row, ...]
    next_at: int | None
    bill: AgentBill | None

    @property
    def pairs(self) -> int:
        return len(self.watch.drawn)

    @property
    def level(self) -> str:
        """The p-value below which a check finds a shift."""
        return f"{level_of(self.watch.most):.2g}"


def card(build: Build, tally: Tally) -> Card | None:
    """None where no drift check was ordered."""
    watch = DriftWatch.objects.filter(build=build).first()
    if watch is None:
        return None
    checks = tuple(watch.checks.order_by("-number")[:SHOWN])
    after = next_at(watch, checks[0]) if checks and not build.is_over else None
    return Card(
        watch=watch,
        rows=tuple(row(check, len(watch.drawn)) for check in checks),
        next_at=after if after is not None and after <= tally.total else None,
        bill=AgentBill.objects.filter(build=build, agent=AGENT).first(),
    )


def row(check: DriftCheck, pairs: int) -> Row:
    """Only a check that is being asked is counted; of the others that is known."""
    asked = pairs * (2 if check.is_baseline else 1)
    if check.finished_at is not None:
        sign = BASELINE if check.is_baseline else SHIFT if check.shifted else NO_SHIFT
        return Row(check, sign, asked, asked)
    answered = DriftAnswer.objects.filter(check_of=check, answered_at__isnull=False).count()
    return Row(check, ASKED_NOW, asked, answered)
