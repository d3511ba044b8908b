"""The offer to label a candidate as an equal one was labelled before."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from django.contrib.auth.models import User

from annotation.models import Case
from annotation.pages.candidates import first_line
from annotation.pages.words import UNSURE, Sign, label_sign
from annotation.review.carrying import earlier, tags_carried
from annotation.review.tags import tag_name


@dataclass(frozen=True, slots=True)
class Before:
    """The earlier label, the review `review` on the case `there`, for the case on screen.

    `tags` are those that would be carried over with it.
    """

    case: int
    review: int
    there: int
    title: str
    sign: Sign
    reason: str
    tags: tuple[str, ...]
    at: datetime


def before_of(user: User, case: Case) -> Before | None:
    """What can be offered beside a case that the person has not labelled; None where nothing can."""
    found = earlier(user, case)
    if found is None:
        return None
    return Before(
        case=case.pk,
        review=found.pk,
        there=found.case_id,
        title=first_line(found.pair.snippet.head),
        sign=UNSURE if found.label is None else label_sign(found.label),
        reason=found.reason,
        tags=tuple(map(tag_name, tags_carried(found))),
        at=found.created_at,
    )
