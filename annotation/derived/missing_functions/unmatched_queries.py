"""Which queries of a build have no match: judged to the end, or with candidates that nobody could judge."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from typing import Any, Final

from django.db.models import BooleanField, Count, ExpressionWrapper, Q, QuerySet

from annotation.models import Build, Case, Proposal, Review
from annotation.models.builds.cases import OPEN
from annotation.stages import Stage
from retrieval.models import Text
from retrieval.texts.plurals import count_noun


@dataclass(frozen=True)
class QueryMatchCounts:
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
JUDGED: Final = ~MATCHED & Q(at_work=0, abandoned=0)
JUDGED_IN_PART: Final = ~MATCHED & Q(at_work=0, abandoned__gt=0)
FREE: Final = Q(provided=False)


def count_queries_by_match(build: Build) -> QueryMatchCounts:
    """How the queries of `build` stand now. One query."""
    counted = {
        "queries": Count("query"),
        "matched": Count("query", filter=MATCHED),
        "without": Count("query", filter=JUDGED & FREE),
        "unjudged": Count("query", filter=JUDGED_IN_PART & FREE),
        "open": Count("query", filter=~MATCHED & Q(at_work__gt=0)),
        "covered": Count("query", filter=~MATCHED & Q(at_work=0, provided=True)),
    }
    return QueryMatchCounts(**summarize_build_queries(build).aggregate(**counted))


def advise_on_unmatched_queries(build: Build) -> str:
    """What to do about queries for which a build that is over found functions and no match; empty where there
    are none, or its pairs were given. One query.
    """
    if build.mining is None or not build.is_over:
        return ""
    without = count_queries_by_match(build).without
    if not without:
        return ""
    verb = "has" if without == 1 else "have"
    name = shlex.quote(build.name)
    return (
        f"{count_noun(without, 'query', 'queries')} {verb} no match among the functions found. "
        f"'cosqa admin extend {name} -k {2 * build.mining.k} --reason WHY' looks further down; "
        f"'cosqa admin missing write {name} --name NAME' has functions written for them."
    )


def without_match(build: Build) -> QuerySet[Text]:
    """Queries whose candidates were all judged, none of them a match; nothing was written for them yet."""
    return filter_build_queries(build, JUDGED, FREE)


def find_unjudged_queries(build: Build) -> QuerySet[Text]:
    """Queries without a match of which some candidates could not be judged: not the same as no match."""
    return filter_build_queries(build, JUDGED_IN_PART, FREE)


def filter_build_queries(build: Build, *wanted: Q) -> QuerySet[Text]:
    """The queries of the build that are as `wanted`, in terms of what `summarize_build_queries` tells of
    each."""
    return Text.objects.filter(
        pk__in=summarize_build_queries(build).filter(*wanted).values("query")
    ).order_by("pk")


def summarize_build_queries(build: Build) -> QuerySet[Any, Any]:
    """A row for each query of the build.

    `matches` by the label in force, `abandoned` candidates without one, and those `at_work`; `by_person`,
    somebody said that one matches, whether it counts or not: nothing is written for that query;
    `provided`, a function was written for it.
    """
    # Looked up once, and not for each query of the build.
    said = Review.objects.current().filter(label=1, case__build=build).values("pair__query")
    written = Proposal.objects.standing().filter(filling__of=build).values("query")
    rows = Case.objects.filter(build=build).order_by().values("query")
    return rows.annotate(
        matches=Count("id", filter=Q(label_in_force=1)),
        at_work=Count("id", filter=Q(stage__in=OPEN)),
        abandoned=Count("id", filter=Q(stage=Stage.ABANDONED, label_in_force=None)),
        by_person=ExpressionWrapper(Q(query__in=said), BooleanField()),
        provided=ExpressionWrapper(Q(query__in=written), BooleanField()),
    )
