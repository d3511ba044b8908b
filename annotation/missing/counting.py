"""Which queries of a build have no match: judged to the end, or with candidates that nobody could judge."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from django.db.models import Count, Exists, OuterRef, Q, QuerySet

from annotation.models import Build, Case, Proposal, Review
from annotation.models.cases import OPEN
from annotation.stages import Stage
from retrieval.models import Text


@dataclass(frozen=True)
class Standing:
    """How the queries of a build stand, in numbers of queries.

    `without`: every candidate was judged, and none is a match. `unjudged`: no match either, but some
    candidates were abandoned, so nobody knows. `open`: some are still to be judged. `covered`: without a
    match, but a function was written for them already, or is being written.
    """

    queries: int
    matched: int
    without: int
    unjudged: int
    open: int
    covered: int


MATCHED: Final = Q(matches__gt=0) | Q(by_person=True)
JUDGED: Final = ~MATCHED & Q(open=0, abandoned=0)
JUDGED_IN_PART: Final = ~MATCHED & Q(open=0, abandoned__gt=0)
FREE: Final = Q(covered=False)


def standing(build: Build) -> Standing:
    """How the queries of `build` stand now."""
    return Standing(
        queries=queries(build).count(),
        matched=queries(build, MATCHED).count(),
        without=without_match(build).count(),
        unjudged=unjudged(build).count(),
        open=queries(build, ~MATCHED, Q(open__gt=0)).count(),
        covered=queries(build, ~MATCHED, Q(open=0, covered=True)).count(),
    )


def without_match(build: Build) -> QuerySet[Text]:
    """Queries whose candidates were all judged, none of them a match; nothing was written for them yet."""
    return queries(build, JUDGED, FREE)


def unjudged(build: Build) -> QuerySet[Text]:
    """Queries without a match of which some candidates could not be judged: not the same as no match."""
    return queries(build, JUDGED_IN_PART, FREE)


def queries(build: Build, *wanted: Q) -> QuerySet[Text]:
    """The queries of the build that are as `wanted`.

    What can be wanted: `matches`, `open` and `abandoned` candidates; `by_person`, somebody said that one
    matches; `covered`, a function was written for it.
    """
    said = Review.objects.current().filter(label=1, case__build=build, pair__query=OuterRef("query"))
    written = Proposal.objects.standing().filter(filling__of=build, query=OuterRef("query"))
    rows = Case.objects.filter(build=build).order_by().values("query")
    told = rows.annotate(
        matches=Count("id", filter=Q(label=1)),
        open=Count("id", filter=Q(stage__in=OPEN)),
        abandoned=Count("id", filter=Q(stage=Stage.ABANDONED)),
        by_person=Exists(said),
        covered=Exists(written),
    )
    return Text.objects.filter(pk__in=told.filter(*wanted).values("query")).order_by("pk")
