"""The fixed pairs of one drift check: what the model said of each at first, and what it says now."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from django.http import QueryDict

from annotation.drift.chance import Answer, Move, move_of
from annotation.drift.judging import baseline_of
from annotation.models import Build, Case, DriftAnswer, DriftCheck
from annotation.pages.browse import chosen
from annotation.pages.words import MATCH, NO_MATCH, Sign, case_sign

MOVES: Final[Mapping[Move, Sign]] = {
    Move.UP: Sign("▲", "higher", "warn"),
    Move.DOWN: Sign("▼", "lower", "warn"),
    Move.UNLIKE: Sign("≠", "no verdict once", "warn"),
    Move.AGREED: Sign("=", "as at first", "quiet"),
}
"""In the order of the list: what moved comes first."""
CHOICES: Final = tuple((move.value, sign.word) for move, sign in MOVES.items())
VERDICTS: Final = {1.0: MATCH, 0.5: Sign("?", "unclear", "quiet"), 0.0: NO_MATCH}
NO_VERDICT: Final = Sign("–", "no verdict", "warn")

Answers = dict[int, DriftAnswer]
"""By case."""


@dataclass(frozen=True, slots=True)
class Said:
    """One answer; `words` are its explanation, or why there is no verdict."""

    sign: Sign
    words: str


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


@dataclass(frozen=True, slots=True)
class PairRow:
    """A pair; `again` is what the baseline said the second time, None where that is what `now` shows."""

    case: int
    pair: int
    query: str
    snippet: str
    label: Sign
    first: Said
    again: Said | None
    now: Said
    move: Move
    moved: Sign


@dataclass(frozen=True, slots=True)
class PairsPage:
    """`counts` are of all pairs of the check, by move; `rows` are those that are wanted."""

    build: Build
    check: DriftCheck
    rows: tuple[PairRow, ...]
    wanted: str
    counts: tuple[tuple[Move, Sign, int], ...]
    pairs: int


def page(build: Build, number: int, params: QueryDict) -> PairsPage | None:
    """The pairs of the build's check with this number; None where it isn't there, or is still asked."""
    check = finished_check(build, number)
    if check is None:
        return None
    wanted = chosen(params.get("moved", ""), CHOICES)
    rows = pair_rows(check)
    counts = tuple((move, sign, sum(row.move is move for row in rows)) for move, sign in MOVES.items())
    shown = tuple(row for row in rows if not wanted or row.move == wanted)
    return PairsPage(build, check, shown, wanted, counts, len(rows))


def finished_check(build: Build, number: int | None = None) -> DriftCheck | None:
    """The build's check with this number, or its latest; None where it isn't there, or is still asked."""
    checks = DriftCheck.objects.filter(watch=build.pk, finished_at__isnull=False).order_by("-number")
    return checks.first() if number is None else checks.filter(number=number).first()


def pair_rows(check: DriftCheck) -> list[PairRow]:
    """What moved first, else as the pairs were drawn."""
    rows = [pair_row(pair) for pair in checked_pairs(check)]
    return sorted(rows, key=lambda row: list(MOVES).index(row.move))


def checked_pairs(check: DriftCheck) -> list[CheckedPair]:
    """The pairs of a finished check as they were drawn; few, so all are read. Four or five queries."""
    old = check if check.is_baseline else baseline_of(check)
    first, again = answers(old, 1), answers(old, 2)
    now = again if check.is_baseline else answers(check, 1)
    second = {} if check.is_baseline else again
    cases = Case.objects.select_related("pair__query", "pair__snippet").in_bulk(list(now))
    return [
        CheckedPair(check.number, place, cases[pk], first[pk], second.get(pk), now[pk])
        for place, pk in enumerate(now, start=1)
    ]


def answers(check: DriftCheck, number: int) -> Answers:
    """The answers of one round, in the order in which the pairs were drawn."""
    rows = DriftAnswer.objects.filter(check_of=check, round=number).order_by("pk")
    return {row.case_id: row for row in rows}


def pair_row(pair: CheckedPair) -> PairRow:
    case = pair.case
    return PairRow(
        case=case.pk,
        pair=case.pair_id,
        query=case.pair.query.head,
        snippet=case.pair.snippet.head,
        label=case_sign(case.stage, case.label),
        first=said(pair.first),
        again=said(pair.again) if pair.again else None,
        now=said(pair.now),
        move=pair.move,
        moved=MOVES[pair.move],
    )


def said(answer: DriftAnswer) -> Said:
    return Said(verdict_sign(answer.verdict), answer.words)


def verdict_sign(verdict: Answer) -> Sign:
    """A screener's verdict; where none could be read that is said, never a 0."""
    return NO_VERDICT if verdict is None else VERDICTS.get(verdict, Sign("·", f"{verdict:g}"))
