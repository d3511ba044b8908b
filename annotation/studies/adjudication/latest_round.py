"""Of a pair that was asked again only the last round counts: before, the rules meant something else.

The ratings of earlier rounds, and the decisions on them, stay and are exported; no figure has them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from django.db.models import Exists, Min, OuterRef

from annotation.models import Assignment, Quota, Study

Place = tuple[int, int]
"""(study pair, condition), ids."""


@dataclass(frozen=True)
class Rounds:
    """The last round of each place, and since when it is open; places that were asked once are left out."""

    numbers: Mapping[Place, int] = field(default_factory=dict)
    since: Mapping[Place, datetime] = field(default_factory=dict)

    def counts(self, study_pair: int, condition: int, number: int) -> bool:
        """Whether what was said in the round of that number still counts."""
        return number == self.numbers.get((study_pair, condition), 1)

    def is_outdated(self, study_pair: int, condition: int, at: datetime) -> bool:
        """Whether a decision of that time was on an earlier round."""
        opened = self.since.get((study_pair, condition))
        return opened is not None and at < opened


def asked_again(path: str = "") -> Exists:
    """Of assignments, or at the end of `path` to one: their pair was asked again since in a later round."""
    place = {name: OuterRef(f"{path}{name}") for name in ("study_pair", "condition")}
    return Exists(Quota.objects.filter(**place, round__gt=OuterRef(f"{path}round")))


def is_asked_again(assignment: Assignment) -> bool:
    return Assignment.objects.filter(asked_again(), pk=assignment.pk).exists()


def rounds_of(study: Study, at: datetime | None = None) -> Rounds:
    """The rounds of a study, now or as they were `at` that time. One query of few rows, or two."""
    rows = Quota.objects.filter(study_pair__study=study, round__gt=1)
    numbers: dict[Place, int] = {}
    since: dict[Place, datetime] = {}
    later: set[Place] = set()
    columns = "study_pair_id", "condition_id", "round", "opened_at"
    for study_pair, condition, number, opened in rows.values_list(*columns):
        if at is not None and opened is not None and opened > at:
            later.add((study_pair, condition))
            continue
        numbers[study_pair, condition] = number
        if opened is not None:
            since[study_pair, condition] = opened
    for place, number, first in list_later_round_starts(study, at) if at is not None and later else ():
        if place in later:
            numbers[place], since[place] = number, first
    return Rounds(numbers, since)


def list_later_round_starts(study: Study, at: datetime) -> Iterator[tuple[Place, int, datetime]]:
    """By place the rounds after the first of which a pair was handed out by then, the last one last, and when
    it first was: a quota tells only since when its last round is open.
    """
    rows = Assignment.objects.filter(enrolment__study=study, round__gt=1, created_at__lte=at)
    found = rows.values("study_pair", "condition", "round").annotate(first=Min("created_at"))
    for row in found.order_by("round"):
        yield (row["study_pair"], row["condition"]), row["round"], row["first"]
