"""Two builds over their common pairs, as figures."""

from __future__ import annotations

from decimal import Decimal

from django.http import HttpRequest
from ninja import Path, Router, Schema
from pydantic import Field

from annotation import place_effect
from annotation.api import visible
from annotation.api.queries import text_head
from annotation.comparing import (
    Comparison,
    FlippedQuery,
    Group,
    Interval,
    Took,
    compare,
    settings_that_differ,
)
from annotation.models import Case
from annotation.models.builds import NANO
from annotation.seen import mark_counts_seen
from retrieval.schemas import Id, TextHead

router = Router(tags=["builds"])


class IntervalOut(Schema):
    """A share with its 95 % interval, from resampling whole queries."""

    value: float
    low: float
    high: float


class GroupOut(Schema):
    """So many common pairs about which the two builds said this; a label is null where there is none."""

    first: int | None
    first_tested: bool = Field(description="a test program was written")
    second: int | None
    second_tested: bool
    pairs: int


class TookOut(Schema):
    """What one build's cases of the common pairs took; calls count whoever paid them."""

    calls: int
    input_tokens: int
    output_tokens: int
    dollars: Decimal
    asking_seconds: float
    programs: int
    ran: int = Field(description="programs that reached an assertion")
    running_seconds: float
    second_tests: int = Field(description="programs written because the first one tested nothing")
    second_touched: int = Field(description="of them, those that tested the candidate")
    second_dollars: Decimal = Field(description="what the calls that wrote them cost")


class FlippedQueryOut(Schema):
    """A query with flips."""

    query: TextHead
    to_match: int
    to_no_match: int
    judged: int = Field(description="its pairs with a label on both sides")


class ComparisonOut(Schema):
    """Two builds over the pairs that both have. A pair without a label on one side is no flip."""

    first: int
    second: int
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


class PlaceOut(Schema):
    """What the screener said of the candidates that it saw at one place of its requests."""

    place: int = Field(description="from 1")
    pairs: int
    matches: int
    unclear: int


class DriftOut(Schema):
    """A share at the last place minus that at the first (-1 to 1); 95 %, from resampling whole queries."""

    value: float
    low: float
    high: float
    beyond_chance: bool


class PlaceEffectOut(Schema):
    """Whether the place moved the verdict; drifts are null where fewer than two queries can tell."""

    queries: int
    places: list[PlaceOut]
    matches: DriftOut | None
    unclear: DriftOut | None


@router.get("/{int:pk}/place-effect", response=PlaceEffectOut | None)
def read_place_effect(request: HttpRequest, pk: Path[Id]) -> PlaceEffectOut | None:
    """Whether a candidate's place in its request moved the verdict; null where pairs are asked one by one."""
    found = place_effect.effect(visible.build(request, pk))
    if found is None:
        return None
    return PlaceEffectOut(
        queries=found.queries,
        places=[
            PlaceOut(place=one.number, pairs=one.pairs, matches=one.matches, unclear=one.unclear)
            for one in found.places
        ],
        matches=drift_out(found.matches),
        unclear=drift_out(found.unclear),
    )


def drift_out(found: place_effect.Drift | None) -> DriftOut | None:
    if found is None:
        return None
    return DriftOut(value=found.value, low=found.low, high=found.high, beyond_chance=found.beyond_chance)


@router.get("/{int:pk}/comparison/{int:against}", response=ComparisonOut)
def compare_builds(request: HttpRequest, pk: Path[Id], against: Path[Id]) -> ComparisonOut:
    """The build (as the first) and another one over their common pairs: flips, agreement, what each took."""
    found = compare(visible.build(request, pk), visible.build(request, against))
    mark_counts_seen(request.user, Case.objects.filter(build=found.second), found.told)
    return comparison_out(found)


def comparison_out(found: Comparison) -> ComparisonOut:
    settings = settings_that_differ(found.first, found.second)
    return ComparisonOut(
        first=found.first.pk,
        second=found.second.pk,
        pairs=found.pairs,
        judged=found.judged,
        flips=found.flips,
        queries=found.spread.queries,
        agreement=interval_out(found.spread.agreement),
        shift=interval_out(found.spread.shift),
        groups=[group_out(one) for one in found.groups],
        took=[took_out(one) for one in found.took],
        worst=[flipped_query_out(one) for one in found.worst],
        settings={
            name: [None if one is None else str(one) for one in both] for name, both in settings.items()
        },
    )


def interval_out(found: Interval | None) -> IntervalOut | None:
    return None if found is None else IntervalOut(value=found.value, low=found.low, high=found.high)


def group_out(group: Group) -> GroupOut:
    return GroupOut(
        first=group.first.label,
        first_tested=group.first.tested,
        second=group.second.label,
        second_tested=group.second.tested,
        pairs=group.pairs,
    )


def took_out(took: Took) -> TookOut:
    return TookOut(
        calls=took.calls,
        input_tokens=took.input_tokens,
        output_tokens=took.output_tokens,
        dollars=Decimal(f"{Decimal(took.cost) / NANO:f}"),
        asking_seconds=took.asking_seconds,
        programs=took.programs,
        ran=took.ran,
        running_seconds=took.running_seconds,
        second_tests=took.second_tests,
        second_touched=took.second_touched,
        second_dollars=Decimal(f"{Decimal(took.second_cost) / NANO:f}"),
    )


def flipped_query_out(found: FlippedQuery) -> FlippedQueryOut:
    return FlippedQueryOut(
        query=text_head(found.query),
        to_match=found.to_match,
        to_no_match=found.to_no_match,
        judged=found.judged,
    )
