"""What a form of a study can send, and what of it can be stored."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from annotation.models import Assignment, CallRequest, ExecutionRequest, Study
from annotation.review.marked_lines import BadLines, MarkedLines, read_marked_lines
from annotation.review.tags import UnknownTag, tags_of
from retrieval.texts.hostile import mark_hostile_characters

MOST_TEXT: Final = 10_000
MOST_READING: Final = 300
MOST_SECONDS: Final = 4 * 3600
MOST_BEHIND: Final = 50
"""How many calls, and how many runs, are noted as what a rating rests on."""
HASH: Final = re.compile("[0-9a-f]{64}")
UNSURE: Final = "unsure"
NOT_OF_TWO: Final = "Lines can't be marked where two functions are compared."
WORDS: Final[Mapping[str, Mapping[str, int]]] = {
    Study.Scale.BINARY: {"1": 1, "0": 0},
    Study.Scale.STEPS: {"2": 2, "1": 1, "0": 0},
    Study.Scale.GRADED: {"3": 3, "2": 2, "1": 1, "0": 0},
}
"""What a form sends for each value, but for two snippets: there it sends a side."""


@dataclass(frozen=True)
class RaterStatement:
    """What a rater wants to store; `value` on the study's scale, None: unsure. `evidence`: sha256.

    `reading`: how the rater read the query, one line. `marked_lines`: those of the function that are the
    reason, such as `4-7`; empty for none. `no_test`: why no test is possible, where a label needs a run.
    """

    value: int | None
    reason: str
    notes: str
    tags: tuple[str, ...]
    seconds: float
    calls: tuple[int, ...]
    runs: tuple[int, ...]
    evidence: str
    reading: str = ""
    marked_lines: str = ""
    no_test: str = ""


class BadRating(ValueError):
    """What was sent can't be a rating; the message says what to change."""


def clean_rater_statement(assignment: Assignment, said: RaterStatement) -> RaterStatement:
    """What was sent, cleaned. Raises BadRating."""
    study = assignment.enrolment.study
    if said.value not in values_of(study):
        raise BadRating(f"A label of this study is one of {', '.join(words_of(study))}.")
    if not HASH.fullmatch(said.evidence):
        raise BadRating("The hash of what was on screen is missing: reload the page and label again.")
    try:
        tags = tuple(tags_of(said.tags))
    except UnknownTag as unknown:
        raise BadRating(str(unknown)) from unknown
    return replace(
        said,
        reason=clean_form_text(said.reason, "reason"),
        notes=clean_form_text(said.notes, "note"),
        tags=tags,
        seconds=clean_active_seconds(said.seconds),
        calls=filter_own_evidence(CallRequest, assignment, said.calls),
        runs=filter_own_evidence(ExecutionRequest, assignment, said.runs),
        reading=reading_of(said.reading),
        marked_lines=clean_marked_lines(assignment, said.marked_lines),
        no_test=clean_form_text(said.no_test, "reason") if assignment.needs_run else "",
    )


def clean_marked_lines(assignment: Assignment, written: str) -> str:
    """The lines as they are stored. Raises BadRating."""
    found = find_marked_lines(assignment, written)
    return found.written if found else ""


def find_marked_lines(assignment: Assignment, written: str) -> MarkedLines | None:
    """Those of the function, counted with docstrings that are hidden. Asks no query where none are written.

    Raises BadRating.
    """
    if not written.strip():
        return None
    if assignment.enrolment.study.kind == Study.Kind.PAIRWISE:
        raise BadRating(NOT_OF_TWO)
    try:
        return read_marked_lines(written, assignment.study_pair.pair.snippet)
    except BadLines as why:
        raise BadRating(str(why)) from why


def reading_of(text: str) -> str:
    """In one line. Raises BadRating."""
    kept = " ".join(mark_hostile_characters(text).split())
    if len(kept) > MOST_READING:
        raise BadRating(f"A reading has at most {MOST_READING} characters; this one has {len(kept):,}.")
    return kept


def clean_form_text(text: str, name: str) -> str:
    kept = mark_hostile_characters(text).replace("\r\n", "\n").strip()
    if len(kept) > MOST_TEXT:
        raise BadRating(f"A {name} has at most {MOST_TEXT:,} characters; this one has {len(kept):,}.")
    return kept


def clean_active_seconds(seconds: float) -> float:
    """Active seconds, at most four hours; what is no number counts as none."""
    return min(max(seconds, 0.0), float(MOST_SECONDS)) if math.isfinite(seconds) else 0.0


def filter_own_evidence(
    kind: type[CallRequest] | type[ExecutionRequest], assignment: Assignment, keys: Sequence[int]
) -> tuple[int, ...]:
    """Those of `keys` that were made for this assignment, the latest ones; others are no evidence of it."""
    wanted = sorted(set(keys))[-MOST_BEHIND:]
    if not wanted:
        return ()
    rows = kind._default_manager.filter(assignment=assignment, pk__in=wanted).order_by("pk")
    return tuple(rows.values_list("pk", flat=True))


def words_of(study: Study) -> tuple[str, ...]:
    """What a form of the study may send as a choice."""
    if study.scale != Study.Scale.PREFERENCE:
        return (*WORDS[study.scale], UNSURE)
    return ("left", "right", "tie", UNSURE) if study.ties else ("left", "right")


def values_of(study: Study) -> set[int | None]:
    """What can be stored; where the choice between two snippets is forced, nobody can be unsure."""
    if study.scale != Study.Scale.PREFERENCE:
        return {None, *WORDS[study.scale].values()}
    return {1, -1, 0, None} if study.ties else {1, -1}


def value_of(assignment: Assignment, sent: str) -> int | None:
    """The value of a choice that a form sent; a side is turned into the snippet that stood there.

    So nothing on a page tells which snippet is which. Raises BadRating.
    """
    study = assignment.enrolment.study
    if sent not in words_of(study):
        raise BadRating(f"Choose a label: {', '.join(words_of(study))}.")
    if sent == UNSURE:
        return None
    return (
        sides_of_assignment(assignment)[sent]
        if study.scale == Study.Scale.PREFERENCE
        else WORDS[study.scale][sent]
    )


def word_of(assignment: Assignment, value: int | None) -> str:
    """What a form sends for a stored value: the other way round."""
    if value is None:
        return UNSURE
    if assignment.enrolment.study.scale != Study.Scale.PREFERENCE:
        return str(value)
    return next(word for word, meant in sides_of_assignment(assignment).items() if meant == value)


def sides_of_assignment(assignment: Assignment) -> dict[str, int]:
    return {"left": -1 if assignment.swapped else 1, "right": 1 if assignment.swapped else -1, "tie": 0}
