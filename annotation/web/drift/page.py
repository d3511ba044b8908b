"""A build's drift checks: those so far with their bill, and what the model said of the fixed pairs of one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from django.http import QueryDict

from annotation.builds.drift.chance import Move, level_of, move_of
from annotation.builds.drift.questions import AGENT
from annotation.builds.drift.verdict import baseline_of
from annotation.builds.drift.watched_pairs import next_at
from annotation.models import AgentBill, Build, Case, DriftAnswer, DriftCheck, DriftWatch, Tally
from annotation.web.shared.pagination import pick_menu_values
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


MOVES: Final[Mapping[Move, Sign]] = {
    Move.HIGHER: Sign("▲", "higher", "warn"),
    Move.LOWER: Sign("▼", "lower", "warn"),
    Move.JUDGED_ONCE: Sign("≠", "no verdict once", "warn"),
    Move.AGREED: Sign("=", "as at first", "quiet"),
}
"""In the order of the list: what moved comes first."""


@dataclass(frozen=True, slots=True)
class CheckedPair:
    """A pair in the check of this number; `place` is from 1, as the pairs were drawn.

    `again` is what the baseline said the second time, None where that is what `now` tells.
    """

    check: int
    place: int
    case: Case
    first: DriftAnswer
    again: DriftAnswer | None
    now: DriftAnswer

    @property
    def move(self) -> Move:
        return move_of(self.first.verdict, self.now.verdict)

    @property
    def moved(self) -> Sign:
        return MOVES[self.move]


def build_drift_pairs_page(build: Build, check: DriftCheck, params: QueryDict) -> dict[str, Any]:
    """The pairs of a finished check that are wanted, what moved first; `counts` are of all, by move."""
    menu = [(move.value, sign.word) for move, sign in MOVES.items()]
    wanted = pick_menu_values(params, {"moved": menu})["moved"]
    order = list(MOVES)
    pairs = sorted(checked_pairs(check), key=lambda pair: order.index(pair.move))
    counts = Counter(pair.move for pair in pairs)
    return {
        "build": build,
        "check": check,
        "rows": [pair for pair in pairs if wanted in ("", pair.move)],
        "told": [pair.case.pair_id for pair in pairs],
        "wanted": wanted,
        "counts": [(move, sign, counts[move]) for move, sign in MOVES.items()],
        "pairs": len(pairs),
    }


def finished_check(build: Build, number: int | None = None) -> DriftCheck | None:
    """The build's check with this number, or its latest; None where it isn't there, or is still asked."""
    checks = DriftCheck.objects.filter(watch=build.pk, finished_at__isnull=False).order_by("-number")
    return checks.first() if number is None else checks.filter(number=number).first()


def checked_pairs(check: DriftCheck) -> list[CheckedPair]:
    """The pairs of a finished check as they were drawn; few, so all are read. Four or five queries."""
    old = check if check.is_baseline else baseline_of(check)
    first, again = load_drift_answers(old, 1), load_drift_answers(old, 2)
    now = again if check.is_baseline else load_drift_answers(check, 1)
    second = {} if check.is_baseline else again
    cases = Case.objects.select_related("pair__query", "pair__snippet").in_bulk(list(now))
    return [
        CheckedPair(check.number, place, cases[pk], first[pk], second.get(pk), now[pk])
        for place, pk in enumerate(now, start=1)
    ]


def load_drift_answers(check: DriftCheck, number: int) -> dict[int, DriftAnswer]:
    """The answers of one round by case, in the order in which the pairs were drawn."""
    rows = DriftAnswer.objects.filter(check_of=check, round=number).order_by("pk")
    return {row.case_id: row for row in rows}
