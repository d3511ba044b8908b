"""How sure a study will be, in the words of its form."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from annotation.agreement import planner
from annotation.studies import foreseeing
from annotation.studies.creating import Order
from annotation.studies.estimating import Outlook
from annotation.studies.foreseeing import ENOUGH_POWER, MOST_TRIED, USUAL_MARGIN, Foreseen, Size
from retrieval.counting import counted

WIDE_POINTS: Final = 5


@dataclass(frozen=True, slots=True)
class RatesView:
    """The rates that were simulated, in percent, and where they are from."""

    source: str
    prevalence: float
    rater: float
    annotator: float
    clustering: float
    skipped: float


@dataclass(frozen=True, slots=True)
class Precision:
    """What made-up studies of that size come to: half widths in points, power in percent; None: undefined."""

    rates: RatesView
    accuracy: float | None
    alpha: float | None
    difference: float | None
    power: float
    margin: float
    warnings: tuple[str, ...]
    drawn: str = ""
    """How the sample was simulated, where not all its pairs are alike."""


@dataclass(frozen=True, slots=True)
class Needed:
    """The smallest study that is sure enough; `pairs` is None where `most` pairs are too few.

    `lacking` says that the builds can't give them, and what to do.
    """

    rates: RatesView | None
    power: int
    margin: float
    most: int
    pairs: int | None = None
    ratings: int = 0
    raters: int = 0
    hours: float = 0.0
    dollars: float = 0.0
    lacking: str = ""


def precision(order: Order, found: Outlook) -> Precision:
    """Simulates some studies of the order's size. About a second; raises StudyRefused."""
    size = size_of(order, found)
    told = foreseeing.foresee(size, order.rates)
    half = (told.outlook.accuracy_width, told.outlook.alpha_width, told.outlook.difference_width)
    accuracy, alpha, difference = (None if one is None else 50 * one for one in half)
    power = told.outlook.power
    warnings = tuple(too_wide(accuracy, power))
    return Precision(
        rates_view(told),
        accuracy,
        alpha,
        difference,
        100 * power,
        100 * size.margin,
        warnings,
        as_drawn(size, told.outlook),
    )


def as_drawn(size: Size, found: planner.Outlook) -> str:
    if size.design is None:
        return ""
    return (
        "Strata and weights are simulated as they were drawn. By unequal weights alone "
        f"{counted(found.pairs, 'pair')} would be worth {counted(round(found.effective), 'pair')}."
    )


def needed(order: Order, found: Outlook) -> Needed:
    """How large the study has to be. Some seconds; raises StudyRefused."""
    size = size_of(order, found)
    told = foreseeing.needed(size, order.rates)
    power, margin = round(100 * ENOUGH_POWER), 100 * size.margin
    if told is None:
        return Needed(None, power, margin, MOST_TRIED)
    one, lacking = told.outlook, found.room.lacking(told.outlook.pairs) if found.room else ""
    size_told = (one.pairs, one.labels, one.raters, one.hours, one.money)
    return Needed(rates_view(told), power, margin, MOST_TRIED, *size_told, lacking)


def size_of(order: Order, found: Outlook) -> Size:
    """Raises StudyRefused for a pairwise study."""
    foreseeing.refuse_pairwise(order.kind)
    seconds = [one.seconds for one in order.conditions]
    return Size(
        pairs=found.pairs,
        pairs_per_query=max(1, round(found.pairs / max(1, found.queries))),
        quorum=min(one.raters for one in order.conditions),
        conditions=len(order.conditions),
        margin=order.margin or USUAL_MARGIN,
        capacity=foreseeing.usual_capacity([one.capacity for one in order.raters]),
        minutes=sum(seconds) / len(seconds) / 60,
        wage=order.hourly_rate,
        design=foreseeing.design_of(found.drawn, found.strata),
    )


def rates_view(told: Foreseen) -> RatesView:
    one = told.assumed
    return RatesView(
        told.source,
        100 * one.prevalence,
        100 * one.rater_accuracy,
        100 * one.annotator_accuracy,
        one.clustering,
        100 * one.skipped,
    )


def too_wide(accuracy: float | None, power: float) -> Iterable[str]:
    if accuracy is None or accuracy > WIDE_POINTS:
        yield f"The interval of the accuracy would be wider than ± {WIDE_POINTS} points: draw more pairs."
    if power < ENOUGH_POWER:
        yield "Such a study would often not show the agents to be as good within the margin: draw more pairs."
