"""Who labels, and two of them over the pairs that both have labelled."""

from __future__ import annotations

from django.db.models import QuerySet
from django.http import HttpRequest
from django.shortcuts import get_object_or_404
from django.urls import reverse
from ninja import Path, Query, Router, Schema
from pydantic import Field

from annotation.accounts.roles import builds_visible_to, refuse_while_blind
from annotation.api.builds.comparisons import TookOut
from annotation.builds.results.annotator_comparison import (
    LAST,
    AnnotatorComparison,
    compare_two_annotators,
    find_labelling_annotators,
    side_of,
)
from annotation.builds.results.label_comparison import load_query_texts
from annotation.review.hidden_labels import refuse_people
from annotation.studies.exposure import mark_seen
from annotation.studies.plan.seals import refuse_unscored
from annotation.web.comparison.annotators import ToReview, to_review
from retrieval.models import Annotator
from retrieval.schemas import Id, Page, Paging, RowSchema, TextHead

router = Router(tags=["annotators"])


class AnnotatorRowOut(Schema):
    """One version of somebody or something that labels."""

    id: int
    kind: str = Field(description="original, agents, single_llm, person, merge or similarity")
    name: str
    version: str = Field(description="sha256 of its configuration")


class CommonRoundsIn(Schema):
    """Which round of either annotator; one that it has not is the last one."""

    round: int = Field(LAST, ge=0, le=2**31 - 1, description="0: of each pair the last one")
    against_round: int = Field(LAST, ge=0, le=2**31 - 1, description="0: of each pair the last one")


class CommonFigureOut(Schema):
    """A figure with its 95 % interval from resampling whole queries; null ends: there is none."""

    value: float
    low: float | None
    high: float | None


class CommonFiguresOut(Schema):
    """Shares of the common pairs, and kappa; null where a figure is not defined."""

    to_match: CommonFigureOut | None
    to_no_match: CommonFigureOut | None
    agreement: CommonFigureOut | None
    shift: CommonFigureOut | None = Field(description="share of matches, second minus first")
    kappa: CommonFigureOut | None = Field(description="Cohen's, over the common pairs")


class CommonSideOut(RowSchema):
    """One of the two."""

    annotator: AnnotatorRowOut
    round: int = Field(description="0: of each pair the last one")
    rounds: list[int]
    scales: list[str]
    alone_match: int = Field(description="pairs that it calls a match, and the other one has not labelled")
    alone_no_match: int
    took: TookOut | None = Field(description="of its builds, over the common pairs; null without a build")


class CommonFlipsOut(RowSchema):
    """A query with flips."""

    query: TextHead
    to_match: int
    to_no_match: int
    pairs: int = Field(description="its pairs with a label of both")


class BuildToReviewOut(RowSchema):
    """A build whose cases show flipped pairs."""

    build: int = Field(validation_alias="build.pk")
    name: str = Field(validation_alias="build.name")
    flips: int = Field(description="flipped pairs with a case in it")
    review: str = Field(description="page on which experts review them, one after another")


class ToReviewOut(Schema):
    """Where the flips can be sent to review."""

    builds: list[BuildToReviewOut] = Field(description="at most ten, those with the most flips first")
    without: int = Field(
        description="flips without a case in a build that you may see: nowhere to review them"
    )


class TwoAnnotatorsOut(RowSchema):
    """Two annotators over the pairs that both have labelled; no label is never a 0."""

    first: CommonSideOut
    second: CommonSideOut
    pairs: int
    queries: int
    both_match: int
    both_no_match: int
    to_match: int = Field(description="no match first, match second")
    to_no_match: int
    figures: CommonFiguresOut
    worst: list[CommonFlipsOut] = Field(description="queries with the most flips")
    to_review: ToReviewOut | None = Field(description="null where no pair is flipped")


@router.get("", response=Page[AnnotatorRowOut])
def list_annotators(request: HttpRequest, wanted: Query[Paging]) -> Page[Annotator]:
    """Everybody who has labelled a pair. 403 for those who rate in a study, until they are done."""
    return wanted.page(known(request).filter(pk__gt=wanted.after or 0).order_by("pk"))


@router.get("/{int:pk}/comparison/{int:against}", response=TwoAnnotatorsOut)
def compare_annotators(
    request: HttpRequest, pk: Path[Id], against: Path[Id], rounds: Query[CommonRoundsIn]
) -> TwoAnnotatorsOut:
    """The annotator (as the first) and another one over the pairs that both have labelled.

    403 for those who rate in a study, until they are done; 409 where one has the labels of a sealed study,
    and the other is not scored on it.
    """
    first = side_of(get_object_or_404(known(request), pk=pk), rounds.round)
    second = side_of(get_object_or_404(known(request), pk=against), rounds.against_round)
    refuse_unscored(first.annotator, second.annotator)
    refuse_people(request.user, [first.annotator, second.annotator])
    builds = builds_visible_to(request.user)
    found = compare_two_annotators(first, second, builds)
    mark_seen(request.user, found.told.values_list("pk", flat=True))
    return comparison_out(found, to_review(found, builds))


def known(request: HttpRequest) -> QuerySet[Annotator]:
    """Raises KeptBlind: labels of anybody tell of the pairs of a study."""
    refuse_while_blind(request.user)
    return find_labelling_annotators()


def comparison_out(found: AnnotatorComparison, sent: ToReview | None) -> TwoAnnotatorsOut:
    return TwoAnnotatorsOut.of(
        found,
        first=side_out(found, 0),
        second=side_out(found, 1),
        both_match=found.cells[1, 1],
        both_no_match=found.cells[0, 0],
        to_match=found.cells[0, 1],
        to_no_match=found.cells[1, 0],
        worst=[CommonFlipsOut.of(row, query=query) for query, row in load_query_texts(found.worst)],
        to_review=None if sent is None else to_review_out(sent),
    )


def to_review_out(sent: ToReview) -> ToReviewOut:
    rows = [
        BuildToReviewOut(
            build=build.pk,
            name=build.name,
            flips=flips,
            review=f"{reverse('review-next', args=[build.pk])}?show={sent.worklist}",
        )
        for build, flips in sent.builds
    ]
    return ToReviewOut(builds=rows, without=sent.without)


def side_out(found: AnnotatorComparison, place: int) -> CommonSideOut:
    return CommonSideOut.of(
        (found.first, found.second)[place],
        scales=[given.scale for given in found.given[place]],
        alone_match=found.alone(place, 1),
        alone_no_match=found.alone(place, 0),
        took=found.took[place],
    )
