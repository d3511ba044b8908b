"""Who labels, and two of them over the pairs that both have labelled."""

from __future__ import annotations

from dataclasses import fields

from django.db.models import QuerySet
from django.http import HttpRequest
from django.shortcuts import get_object_or_404
from django.urls import reverse
from ninja import Path, Query, Router, Schema
from pydantic import Field

from annotation.access import builds_visible_to, refuse_while_blind
from annotation.agreement.flips import Figures
from annotation.api.comparisons import TookOut, took_out
from annotation.api.queries import text_head
from annotation.comparing_annotators import LAST, Comparison, annotators, compare, side_of
from annotation.intervals import Mean
from annotation.pages.annotators import ToReview, to_review
from annotation.seen import mark_seen
from annotation.studies.sealing import refuse_unscored
from retrieval.models import Annotator, Text
from retrieval.schemas import Id, Page, Paging, TextHead, page_of

router = Router(tags=["annotators"])


class AnnotatorRowOut(Schema):
    """One version of somebody or something that labels."""

    id: int
    kind: str = Field(description="original, agents, single_llm, person or merge")
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


class CommonSideOut(Schema):
    """One of the two."""

    annotator: AnnotatorRowOut
    round: int = Field(description="0: of each pair the last one")
    rounds: list[int]
    scales: list[str]
    alone_match: int = Field(description="pairs that it calls a match, and the other one has not labelled")
    alone_no_match: int
    took: TookOut | None = Field(description="of its builds, over the common pairs; null without a build")


class CommonFlipsOut(Schema):
    """A query with flips."""

    query: TextHead
    to_match: int
    to_no_match: int
    pairs: int = Field(description="its pairs with a label of both")


class BuildToReviewOut(Schema):
    """A build whose cases show flipped pairs."""

    build: int
    name: str
    flips: int = Field(description="flipped pairs with a case in it")
    review: str = Field(description="page on which experts review them, one after another")


class ToReviewOut(Schema):
    """Where the flips can be sent to review."""

    builds: list[BuildToReviewOut] = Field(description="at most ten, those with the most flips first")
    without: int = Field(
        description="flips without a case in a build that you may see: nowhere to review them"
    )


class TwoAnnotatorsOut(Schema):
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
def list_annotators(request: HttpRequest, wanted: Query[Paging]) -> Page[AnnotatorRowOut]:
    """Everybody who has labelled a pair. 403 for those who rate in a study, until they are done."""
    rows = known(request).filter(pk__gt=wanted.after or 0).order_by("pk")[: wanted.limit + 1]
    return page_of(rows, wanted.limit, lambda row: row.pk, annotator_out)


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
    builds = builds_visible_to(request.user)
    found = compare(first, second, builds)
    mark_seen(request.user, found.told.values_list("pk", flat=True))
    return comparison_out(found, to_review(found, builds))


def known(request: HttpRequest) -> QuerySet[Annotator]:
    """Raises KeptBlind: labels of anybody tell of the pairs of a study."""
    refuse_while_blind(request.user)
    return annotators()


def comparison_out(found: Comparison, sent: ToReview | None) -> TwoAnnotatorsOut:
    texts = Text.objects.in_bulk([one.query for one in found.worst])
    return TwoAnnotatorsOut(
        first=side_out(found, 0),
        second=side_out(found, 1),
        pairs=found.pairs,
        queries=found.queries,
        both_match=found.cells[1, 1],
        both_no_match=found.cells[0, 0],
        to_match=found.cells[0, 1],
        to_no_match=found.cells[1, 0],
        figures=figures_out(found.figures),
        worst=[
            CommonFlipsOut(
                query=text_head(texts[one.query]),
                to_match=one.to_match,
                to_no_match=one.to_no_match,
                pairs=one.pairs,
            )
            for one in found.worst
        ],
        to_review=None if sent is None else to_review_out(sent),
    )


def to_review_out(sent: ToReview) -> ToReviewOut:
    return ToReviewOut(
        builds=[
            BuildToReviewOut(
                build=one.build.pk,
                name=one.build.name,
                flips=one.flips,
                review=f"{reverse('review-next', args=[one.build.pk])}?show={sent.worklist}",
            )
            for one in sent.builds
        ],
        without=sent.without,
    )


def side_out(found: Comparison, place: int) -> CommonSideOut:
    side, took = (found.first, found.second)[place], found.took[place]
    return CommonSideOut(
        annotator=annotator_out(side.annotator),
        round=side.round,
        rounds=list(side.rounds),
        scales=[one.scale for one in found.given[place]],
        alone_match=found.alone(place, 1),
        alone_no_match=found.alone(place, 0),
        took=None if took is None else took_out(took),
    )


def annotator_out(row: Annotator) -> AnnotatorRowOut:
    return AnnotatorRowOut(id=row.pk, kind=row.kind, name=row.name, version=row.version)


def figures_out(found: Figures) -> CommonFiguresOut:
    return CommonFiguresOut(**{one.name: figure_out(getattr(found, one.name)) for one in fields(found)})


def figure_out(found: Mean | None) -> CommonFigureOut | None:
    return None if found is None else CommonFigureOut(value=found.value, low=found.low, high=found.high)
