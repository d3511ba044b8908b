"""Two builds over their common pairs, as figures."""

from __future__ import annotations

from django.http import HttpRequest
from ninja import Path, Router, Schema
from pydantic import Field

from annotation.api.shared import visible
from annotation.builds.results.build_comparison import compare_two_builds, settings_that_differ
from annotation.builds.results.label_comparison import load_query_texts
from annotation.builds.results.position_bias import Effect, get_position_bias
from annotation.models import Case
from annotation.schemas.shared.fields import Dollars
from annotation.stats.intervals import Mean
from annotation.studies.exposure import mark_counts_seen
from retrieval.schemas import Id, RowSchema, TextHead

router = Router(tags=["builds"])


class IntervalOut(Schema):
    """A share with its 95 % interval, from resampling whole queries."""

    value: float
    low: float
    high: float


class GroupOut(RowSchema):
    """So many common pairs about which the two builds said this; a label is null where there is none."""

    first: int | None = Field(validation_alias="first.label")
    first_tested: bool = Field(description="a test program was written", validation_alias="first.tested")
    second: int | None = Field(validation_alias="second.label")
    second_tested: bool = Field(validation_alias="second.tested")
    pairs: int


class TookOut(RowSchema):
    """What one build's cases of the common pairs took; calls count whoever paid them."""

    calls: int
    input_tokens: int
    output_tokens: int
    dollars: Dollars = Field(validation_alias="cost")
    asking_seconds: float
    programs: int
    ran: int = Field(description="programs that reached an assertion")
    running_seconds: float
    second_tests: int = Field(description="programs written because the first one tested nothing")
    second_touched: int = Field(description="second tests that tested the candidate")
    second_dollars: Dollars = Field(
        description="what the calls that wrote them cost", validation_alias="second_cost"
    )


class FlippedQueryOut(RowSchema):
    """A query with flips."""

    query: TextHead
    to_match: int
    to_no_match: int
    judged: int = Field(description="its pairs with a label on both sides", validation_alias="pairs")


class ComparisonOut(RowSchema):
    """Two builds on the pairs that they share. A pair without a label on one side is no flip."""

    first: int = Field(validation_alias="first.pk")
    second: int = Field(validation_alias="second.pk")
    pairs: int
    judged: int
    flips: int
    queries: int
    agreement: IntervalOut | None
    shift: IntervalOut | None = Field(description="share of matches, second minus first")
    groups: list[GroupOut]
    took: list[TookOut] = Field(description="of the first, of the second")
    worst: list[FlippedQueryOut] = Field(description="queries with the most flips")
    settings: dict[str, list[str | None]] = Field(description="settings of the annotators that differ")


class PlaceOut(RowSchema):
    """What the screener said of the candidates that it saw at one place of its requests."""

    place: int = Field(description="from 1", validation_alias="number")
    pairs: int
    matches: int
    unclear: int


class PositionDriftOut(Schema):
    """A share at the last place minus that at the first (-1 to 1); 95 %, from resampling whole queries."""

    value: float
    low: float
    high: float
    beyond_chance: bool


class PlaceEffectOut(Schema):
    """Whether the place moved the verdict; drifts are null where fewer than two queries can tell."""

    queries: int
    places: list[PlaceOut]
    matches: PositionDriftOut | None
    unclear: PositionDriftOut | None


@router.get("/{int:pk}/place-effect", response=PlaceEffectOut | None)
def read_place_effect(request: HttpRequest, pk: Path[Id]) -> Effect | None:
    """Whether a candidate's place in its request moved the verdict; null where pairs are asked one by one."""
    return get_position_bias(visible.build(request, pk))


@router.get("/{int:pk}/comparison/{int:against}", response=ComparisonOut)
def compare_builds(request: HttpRequest, pk: Path[Id], against: Path[Id]) -> ComparisonOut:
    """The build (as the first) and another one over their common pairs: flips, agreement, what each took."""
    found = compare_two_builds(visible.build(request, pk), visible.build(request, against))
    mark_counts_seen(request.user, Case.objects.filter(build=found.second), found.told_queries)
    settings = settings_that_differ(found.first, found.second)
    return ComparisonOut.of(
        found,
        agreement=with_interval(found.figures.agreement),
        shift=with_interval(found.figures.shift),
        worst=[FlippedQueryOut.of(row, query=query) for query, row in load_query_texts(found.worst)],
        settings={
            name: [None if value is None else str(value) for value in both] for name, both in settings.items()
        },
    )


def with_interval(found: Mean | None) -> Mean | None:
    """Shares and shifts have an interval wherever they have a value."""
    return found if found is not None and found.has_interval else None
