"""The fixed pairs of one drift check: what the model said of each at first, and what it says now."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from django.http import QueryDict

from annotation.builds.drift.chance import Move, move_of
from annotation.builds.drift.verdict import baseline_of
from annotation.models import Build, Case, DriftAnswer, DriftCheck
from annotation.web.shared.pagination import pick_menu_values
from annotation.web.shared.words import Sign

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
