"""Others' labels of a pair are hidden until one's own is stored, where the build is set so.

It holds for experts. Admins see all, and readers label nothing. An undo of the own label hides the others'
again.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any, Final

from django.core.exceptions import PermissionDenied
from django.db.models import Exists, OuterRef, Q, QuerySet

from annotation.accounts.roles import Role, role_of
from annotation.models import Build, Case, Review
from retrieval.models import Annotator

NO_PAIRS: Final[frozenset[int]] = frozenset()
HIDDEN: Final = "A build hides experts' labels from each other. This page would show them; ask an admin."


def hides_labels_from(user: Any, build: Build) -> bool:
    """Whether the person sees no other person's label of a pair that they have not labelled."""
    return build.hides_reviews and role_of(user) is Role.EXPERT


def find_hidden_pairs(user: Any, build: Build, pairs: Collection[int]) -> frozenset[int]:
    """Those of the pairs (ids) of which the person may not know others' labels.

    Where nothing is hidden, it asks no query.
    """
    if not hides_labels_from(user, build):
        return NO_PAIRS
    mine = Review.objects.current().filter(rater=user, pair__in=pairs)
    return frozenset(pairs) - frozenset(mine.values_list("pair_id", flat=True))


def hide_labels_in_force(cases: Iterable[Case], hidden: Collection[int]) -> None:
    """Let the cases of hidden pairs, which are only shown, say the agents' label alone."""
    for case in cases:
        if case.pair_id in hidden:
            case.label_in_force, case.contradicted = case.label, False


def hide_totals_in_force(user: Any, builds: Iterable[Build]) -> None:
    """Let the totals of builds, which are only shown, be by the agents' labels where others' are hidden."""
    for build in builds:
        if hides_labels_from(user, build):
            tally = build.tally
            tally.matches_in_force, tally.no_matches_in_force = tally.matches, tally.settled - tally.matches


def filter_shown_reviews(rows: QuerySet[Review], user: Any, build: Build) -> QuerySet[Review]:
    """Those of the reviews that the person may read: of a pair that is hidden only the own ones."""
    if not hides_labels_from(user, build):
        return rows
    mine = Review.objects.current().filter(rater=user, pair=OuterRef("pair"))
    return rows.filter(Q(rater=user) | Q(Exists(mine)))


def counted_label(user: Any, build: Build) -> str:
    """The column that counts of a build's labels read: what is in force tells what experts said."""
    return "label" if hides_labels_from(user, build) else "label_in_force"


def refuse_people(user: Any, annotators: Iterable[Annotator]) -> None:
    """Raises PermissionDenied where an expert asks for another person's labels while any build hides them."""
    if role_of(user) is not Role.EXPERT:
        return
    people = [row for row in annotators if row.kind == Annotator.Kind.PERSON]
    others = any(row.config.get("user") != user.pk for row in people)
    if others and Build.objects.filter(hides_reviews=True).exists():
        raise PermissionDenied(HIDDEN)


def refuse_experts_of(user: Any, build: Build) -> None:
    """The same for a page that shows what experts say of all pairs of the build's list."""
    if role_of(user) is not Role.EXPERT:
        return
    if Build.objects.filter(pair_list=build.pair_list_id, hides_reviews=True).exists():
        raise PermissionDenied(HIDDEN)
