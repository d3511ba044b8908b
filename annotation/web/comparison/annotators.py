"""The page that sets two annotators side by side over the pairs that both have labelled."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any, Final

from django.contrib.auth.models import User
from django.db.models import QuerySet

from annotation.builds.results.annotator_comparison import (
    LAST,
    MOST_PAIRS,
    AnnotatorComparison,
    AnnotatorSide,
    builds_of,
    compare_two_annotators,
    compute_flip_reach,
    find_labelling_annotators,
    flipped_pairs,
    side_of,
)
from annotation.builds.results.label_comparison import load_query_texts
from annotation.models import Build
from annotation.review.worklists.order import Apart, Flipped
from annotation.studies.plan.plan import StudyRefused
from annotation.studies.plan.row_names import format_annotator_name
from annotation.studies.plan.seals import refuse_unscored
from annotation.web.comparison.page import build_comparison_figures, build_label_matrix
from annotation.web.comparison.tables import list_common_shares
from retrieval.metrics.resampling import FEW
from retrieval.models import Annotator
from retrieval.models.labels import WRITTEN

MOST_BUILDS: Final = 3
"""Builds of either side that are set against each other."""
MOST_TO_REVIEW: Final = 10


@dataclass(frozen=True, slots=True)
class ToReview:
    """Where flips can be sent to review: builds with cases of so many flipped pairs.

    `without` of them have no case in a build that is shown.
    """

    worklist: Apart
    builds: list[tuple[Build, int]]
    without: int


def annotators_page(
    builds: QuerySet[Build], wanted: tuple[int, int], rounds: tuple[int, int]
) -> dict[str, Any]:
    """The page for two annotators by their ids (-1: not chosen) and the numbers of rounds (`LAST`).

    `found` is None until two annotators, or two rounds of one, are chosen; `seen` are the pairs whose labels
    are on the page.
    """
    choices = choices_of(find_labelling_annotators().order_by("kind", "name", "pk"))
    rows, names = ({row.pk: row for row, _ in choices}, {row.pk: name for row, name in choices})
    first, second = (
        side_of(rows[pk], number) if pk in rows else None for pk, number in zip(wanted, rounds, strict=True)
    )
    page: dict[str, Any] = {
        "choices": choices,
        "first": first,
        "second": second,
        "found": None,
        "few": FEW,
        "seen": [],
    }
    if first is None or second is None:
        return page
    page["names"] = format_side_title(names, first), format_side_title(names, second)
    if problem := problem_of(first, second):
        return page | {"problem": problem}
    return page | compare_sides(compare_two_annotators(first, second, builds), builds)


def compare_sides(found: AnnotatorComparison, builds: QuerySet[Build]) -> dict[str, Any]:
    """What the page shows of two sides that can be compared."""
    pairs = flipped_pairs(found, builds)
    return {
        "found": found,
        "matrix": build_label_matrix(found),
        "shares": list_common_shares(found.figures),
        # Nothing where neither side has a build.
        "took": list(build_comparison_figures(*found.took, found.pairs)) if any(found.took) else [],
        "worst": list(load_query_texts(found.worst)),
        "pairs": pairs,
        "most": MOST_PAIRS,
        "builds": list(two_builds(found, builds)),
        "to_review": to_review(found, builds),
        "seen": [*(flip.pair.pk for flip in pairs), *found.told.values_list("pk", flat=True)],
    }


def problem_of(first: AnnotatorSide, second: AnnotatorSide) -> str:
    """Why the two are not compared; empty where they are."""
    if first == second:
        return "Choose two different annotators, or two rounds of one."
    try:
        refuse_unscored(first.annotator, second.annotator)
    except StudyRefused as why:
        return str(why)
    return ""


def choices_of(rows: Iterable[Annotator]) -> list[tuple[Annotator, str]]:
    """The annotators by names that a person knows: people by their account's. One query."""
    found = list(rows)
    people = {
        row.config["user"] for row in found if row.kind == Annotator.Kind.PERSON and "user" in row.config
    }
    accounts = {user.pk: user.get_username() for user in User.objects.filter(pk__in=people)}
    return [(row, describe_annotator_label(row, accounts)) for row in found]


def describe_annotator_label(annotator: Annotator, accounts: Mapping[int, str]) -> str:
    """An annotator's name, with what tells it from others of its name."""
    if annotator.kind != Annotator.Kind.PERSON:
        return f"{format_annotator_name(annotator)}, {annotator.get_kind_display()}"
    name = accounts.get(annotator.config.get("user", 0), annotator.name)
    return f"{name}, {WRITTEN if annotator.config.get('decides') == WRITTEN else 'person'}"


def format_side_title(names: Mapping[int, str], side: AnnotatorSide) -> str:
    """A side's name, with its round where there are several."""
    name = names[side.annotator.pk]
    if len(side.rounds) < 2:
        return name
    return f"{name}, last round" if side.round == LAST else f"{name}, round {side.round}"


def two_builds(found: AnnotatorComparison, builds: QuerySet[Build]) -> Iterable[tuple[Build, Build, Flipped]]:
    """The newest builds of the first against those of the second, with the worklist of their flips."""
    own = (builds_of(side, builds)[:MOST_BUILDS] for side in (found.first, found.second))
    for first, second in product(*own):
        if first != second:
            yield first, second, Flipped(first.pk)


def to_review(found: AnnotatorComparison, builds: QuerySet[Build]) -> ToReview | None:
    """The builds whose cases show flipped pairs, those with the most first; None without a flip."""
    if not found.flips:
        return None
    reached = compute_flip_reach(found, builds)
    known = Build.objects.in_bulk([pk for pk, _ in reached.builds[:MOST_TO_REVIEW]])
    rows = [(known[pk], count) for pk, count in reached.builds[:MOST_TO_REVIEW] if pk in known]
    sides = ((side.annotator.pk, side.round) for side in (found.first, found.second))
    return ToReview(Apart(*sides), rows, found.flips - reached.pairs)
