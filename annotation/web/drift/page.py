"""What a build's page shows of its drift check: the checks so far, the one asked now, and the bill."""

from __future__ import annotations

from typing import Any, Final

from annotation.builds.drift.chance import level_of
from annotation.builds.drift.questions import AGENT
from annotation.builds.drift.watched_pairs import next_at
from annotation.models import AgentBill, Build, DriftAnswer, DriftCheck, DriftWatch, Tally
from annotation.web.shared.words import Sign

SHOWN: Final = 20
NO_SHIFT: Final = Sign("✓", "within chance", "good")
SHIFT: Final = Sign("!", "a shift", "bad")
BASELINE: Final = Sign("·", "baseline", "quiet")
ASKED_NOW: Final = Sign("…", "is asked now", "quiet")


def build_drift_card(build: Build, tally: Tally) -> dict[str, Any] | None:
    """The checks, the newest first, and when the next one follows; None where no check was ordered.

    `level` is the p-value below which a check finds a shift.
    """
    watch = DriftWatch.objects.filter(build=build).first()
    if watch is None:
        return None
    checks = watch.checks.order_by("-number")[:SHOWN]
    after = next_at(watch, checks[0]) if checks and not build.is_over else None
    return {
        "watch": watch,
        "pairs": len(watch.drawn),
        "level": f"{level_of(watch.max_checks):.2g}",
        "rows": [build_drift_check_row(check, len(watch.drawn)) for check in checks],
        "next_at": after if after is not None and after <= tally.total else None,
        "bill": AgentBill.objects.filter(build=build, agent=AGENT).first(),
    }


def build_drift_check_row(check: DriftCheck, pairs: int) -> dict[str, Any]:
    """A check, of whose `asked` questions `answered` have their answer; of one that is over that is known."""
    asked = answered = pairs * (2 if check.is_baseline else 1)
    if check.finished_at is None:
        sign = ASKED_NOW
        answered = DriftAnswer.objects.filter(check_of=check, answered_at__isnull=False).count()
    else:
        sign = BASELINE if check.is_baseline else SHIFT if check.shifted else NO_SHIFT
    return {
        "check": check,
        "sign": sign,
        "asked": asked,
        "answered": answered,
        "pairs": check.agreed + check.higher + check.lower + check.judged_once,
        "p_value": "–" if check.p_value is None else f"{check.p_value:.2g}",
    }
