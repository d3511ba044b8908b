"""Tests that people sent back: a tag on a test asks for another one, and an admin has it written.

The tag of a label that stands is the request; it waits until the case was run again from the test writer on.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce
from operator import or_
from typing import Final

from django.db.models import Exists, OuterRef, QuerySet, Subquery

from annotation.models import Build, Case, Rerun, Review
from annotation.rerunning.taking import able
from annotation.review.tags import Tag
from annotation.stages import Stage

WRITES: Final = (Stage.SCREENING.value, Stage.WRITING_TEST.value)
"""The stages from which on a case gets another test."""
OF_TEST: Final = frozenset(tag.value for tag in Tag if tag.of_test)


def waiting(build: Build) -> QuerySet[Case]:
    """The cases of the build whose test was sent back and has not been written again since."""
    return unanswered(Case.objects.filter(build=build), asks())


def waits(case: Case) -> bool:
    """Whether the test of this case waits to be written again."""
    return unanswered(Case.objects.filter(pk=case.pk), asks().filter(pair=case.pair_id)).exists()


def asked_among(reviews: Iterable[Review]) -> bool:
    """Whether one of these labels may ask for another test: where none does, nothing is looked up."""
    return any(not review.withdrawn and OF_TEST.intersection(review.tags) for review in reviews)


def unanswered(cases: QuerySet[Case], labels: QuerySet[Review]) -> QuerySet[Case]:
    """Those of `cases` that one of these labels asks a test for, and that got none since."""
    # By the ids of the few labels with such a tag, so that nobody goes through all cases.
    asked = Review.objects.filter(pk__in=list(labels.values_list("pk", flat=True)))
    latest = asked.filter(pair=OuterRef("pair")).order_by("-created_at").values("created_at")[:1]
    again = Rerun.objects.filter(cases=OuterRef("pk"), stage__in=WRITES)
    rows = cases.filter(pair__in=asked.values("pair")).annotate(asked_at=Subquery(latest))
    since = again.filter(build__created_at__gte=OuterRef("asked_at"))
    return able(rows, Stage.WRITING_TEST).exclude(Exists(since))


def asks() -> QuerySet[Review]:
    """The standing labels with a tag of the test."""
    standing = Review.objects.current()
    return reduce(or_, (standing.tagged(tag) for tag in Tag if tag.of_test))
