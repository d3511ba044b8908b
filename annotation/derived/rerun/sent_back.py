"""Tests that people sent back: a tag on a test asks for another one, and an admin has it written.

The tag of a label that stands is the request; it waits until the case was run again from the test writer on.
Raters of *agent's tests* and of *reveal* see the test of the case that their pair was drawn from. Their tags
ask when the study is closed: before, they would tell of labels that are to stay unseen, and a test that is
written again would not be the one that the other raters are shown.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce
from operator import or_
from typing import Final

from django.db.models import Exists, OuterRef, Q, QuerySet, Subquery

from annotation.derived.rerun.case_takeover import filter_rerunnable_cases
from annotation.models import Build, Case, Rating, Rerun, Review, Study
from annotation.review.tags import Tag
from annotation.stages import Stage

WRITES: Final = (Stage.SCREENING.value, Stage.READING.value, Stage.WRITING_TEST.value)
"""The stages from which on a case gets another test."""
OF_TEST: Final = frozenset(tag.value for tag in Tag if tag.of_test)


def find_cases_awaiting_test(build: Build) -> QuerySet[Case]:
    """The cases of the build whose test was sent back and has not been written again since."""
    return filter_unanswered_cases(
        Case.objects.filter(build=build), find_test_tagged_labels(), find_test_tagged_ratings()
    )


def is_awaiting_test(case: Case) -> bool:
    """Whether the test of this case waits to be written again."""
    said = (
        find_test_tagged_labels().filter(pair=case.pair_id),
        find_test_tagged_ratings().filter(assignment__study_pair__case=case),
    )
    return filter_unanswered_cases(Case.objects.filter(pk=case.pk), *said).exists()


def asked_among(reviews: Iterable[Review]) -> bool:
    """Whether one of these labels may ask for another test: where none does, nothing is looked up."""
    return any(not review.withdrawn and OF_TEST.intersection(review.tags) for review in reviews)


def filter_unanswered_cases(
    cases: QuerySet[Case], labels: QuerySet[Review], ratings: QuerySet[Rating]
) -> QuerySet[Case]:
    """Those of `cases` that one of these labels or ratings asks a test for, and that got none since."""
    # By the ids of the few labels with such a tag, so that nobody goes through all cases.
    asked = Review.objects.filter(pk__in=list(labels.values_list("pk", flat=True)))
    told = Rating.objects.filter(pk__in=list(ratings.values_list("pk", flat=True)))
    latest = asked.filter(pair=OuterRef("pair")).order_by("-created_at").values("created_at")[:1]
    last = told.filter(assignment__study_pair__case=OuterRef("pk")).order_by("-created_at")
    seen = told.values("assignment__study_pair__case")
    rows = cases.filter(Q(pair__in=asked.values("pair")) | Q(pk__in=seen)).annotate(
        asked_at=Subquery(latest), told_at=Subquery(last.values("created_at")[:1])
    )
    return filter_rerunnable_cases(rows, Stage.WRITING_TEST).filter(
        open_since("asked_at") | open_since("told_at")
    )


def open_since(name: str) -> Q:
    """That something was asked at the time `name`, and that the case was not run again after it."""
    again = Rerun.objects.filter(cases=OuterRef("pk"), stage__in=WRITES)
    since = again.filter(build__created_at__gte=OuterRef(name))
    return Q(**{f"{name}__isnull": False}) & ~Q(Exists(since))


def find_test_tagged_labels() -> QuerySet[Review]:
    """The standing labels with a tag of the test."""
    standing = Review.objects.current()
    return reduce(or_, (standing.tagged(tag) for tag in Tag if tag.of_test))


def find_test_tagged_ratings() -> QuerySet[Rating]:
    """The standing ratings of closed studies with a tag of the test, without those of excluded raters."""
    standing = Rating.objects.current().counted()
    closed = standing.filter(assignment__study_pair__study__state=Study.State.CLOSED)
    return reduce(or_, (closed.tagged(tag) for tag in Tag if tag.of_test))
