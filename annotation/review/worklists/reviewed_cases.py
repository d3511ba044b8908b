"""The rows of lists: one case for each pair, with its labels, its tags and the experts it is assigned to."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.models import User
from django.db.models import OuterRef, QuerySet

from annotation.models import Build, Case, PairTag, Review, ReviewAssignment
from annotation.review.tags import Tag


def first_round(build: Build) -> QuerySet[Case]:
    """One case a pair."""
    return Case.objects.filter(build=build, round=1)


def reviews_by(user: User | None = None) -> QuerySet[Review]:
    """The reviews that stand on the pair of an outer Case, of one person or of anybody."""
    standing = Review.objects.current().filter(pair=OuterRef("pair"))
    return standing if user is None else standing.filter(rater=user)


def tagged_pairs(tag: Tag) -> QuerySet[Any, Any]:
    """The pairs that carry the tag, by anybody's label that stands or from a list.

    They are few, so whoever asks begins with them.
    """
    listed = PairTag.objects.filter(tag=tag.value, removed=None)
    return Review.objects.current().tagged(tag).order_by().values("pair").union(listed.values("pair"))


def open_assignments(user: User | None = None) -> QuerySet[ReviewAssignment]:
    """The assignments of an outer Case that were not removed, of one person or of anybody."""
    rows = ReviewAssignment.objects.filter(case=OuterRef("pk"), removed=None)
    return rows if user is None else rows.filter(expert=user)
