"""How sure a study will be, in the words of its form."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from annotation.stats.planning import planner
from annotation.studies.plan import forecast
from annotation.studies.plan.creation import Order
from annotation.studies.plan.effort import StudyOutlook
from annotation.studies.plan.forecast import ENOUGH_POWER, MOST_TRIED, USUAL_MARGIN, Foreseen, Size
from retrieval.texts.plurals import count_noun

WIDE_POINTS: Final = 5


def forecast_study_precision(order: Order, found: StudyOutlook) -> dict[str, Any]:
    """Simulates some studies of the order's size. About a second; raises StudyRefused.

    What they come to: half widths in points, None where they have none; power and margin in percent.
    """
    size = size_of(order, found)
    told = forecast.simulate_study_precision(size, order.rates)
    widths = (told.outlook.accuracy_width, told.outlook.alpha_width, told.outlook.difference_width)
    accuracy, alpha, difference = (None if width is None else 50 * width for width in widths)
    return {
        "rates": rates_view(told),
        "accuracy": accuracy,
        "alpha": alpha,
        "difference": difference,
        "power": 100 * told.outlook.power,
        "margin": 100 * size.margin,
        "warnings": list(too_wide(accuracy, told.outlook.power)),
        "drawn": as_drawn(size, told.outlook),
    }


def as_drawn(size: Size, found: planner.StudyOutlook) -> str:
    if size.design is None:
        return ""
    return (
        "Strata and weights are simulated as they were drawn. By unequal weights alone "
        f"{count_noun(found.pairs, 'pair')} would be worth {count_noun(round(found.effective), 'pair')}."
    )


def forecast_study_size(order: Order, found: StudyOutlook) -> dict[str, Any]:
    """The smallest study that is sure enough, None where `most` pairs are too few. Some seconds.

    `lacking` says that the builds can't give its pairs, and what to do. Raises StudyRefused.
    """
    size = size_of(order, found)
    asked = {"power": round(100 * ENOUGH_POWER), "margin": 100 * size.margin, "most": MOST_TRIED}
    told = forecast.find_smallest_study(size, order.rates)
    if told is None:
        return asked
    lacking = found.room.lacking(told.outlook.pairs) if found.room else ""
    return asked | {"rates": rates_view(told), "smallest": told.outlook, "lacking": lacking}


def size_of(order: Order, found: StudyOutlook) -> Size:
    """Raises StudyRefused for a pairwise study."""
    forecast.refuse_pairwise(order.kind)
    seconds = [condition.seconds for condition in order.conditions]
    return Size(
        pairs=found.pairs,
        pairs_per_query=max(1, round(found.pairs / max(1, found.queries))),
        quorum=min(condition.raters for condition in order.conditions),
        conditions=len(order.conditions),
        margin=order.margin or USUAL_MARGIN,
        capacity=forecast.usual_capacity([rater.capacity for rater in order.raters]),
        minutes=sum(seconds) / len(seconds) / 60,
        wage=order.hourly_rate,
        design=forecast.design_of(found.drawn, found.strata),
    )


def rates_view(told: Foreseen) -> dict[str, Any]:
    """The rates that were simulated, in percent, and where they are from."""
    assumed = told.assumed
    return {
        "source": told.source,
        "prevalence": 100 * assumed.prevalence,
        "rater": 100 * assumed.rater_accuracy,
        "annotator": 100 * assumed.annotator_accuracy,
        "clustering": assumed.clustering,
        "skipped": 100 * assumed.skipped,
    }


def too_wide(accuracy: float | None, power: float) -> Iterable[str]:
    if accuracy is None or accuracy > WIDE_POINTS:
        yield f"The interval of the accuracy would be wider than ± {WIDE_POINTS} points: draw more pairs."
    if power < ENOUGH_POWER:
        yield "Such a study would often not show the agents to be as good within the margin: draw more pairs."
