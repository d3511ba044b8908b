"""Whether the place that a candidate was shown at moved what the screener said of it.

The candidates of a query are shown in an order drawn by chance: without an effect of the place, verdicts do
not drift along it. The drift is the slope within each request (places and verdicts against the request's own
means), all requests together, times the way from the first place to the last. Its interval resamples whole
queries, as that of a comparison does: candidates of one query are not independent.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from statistics import fmean
from typing import Final

import numpy as np
from django.core.cache import cache

from annotation.builds.limits.canary import by_query
from annotation.builds.pipeline import listwise
from annotation.builds.pipeline.listwise import PlaceVerdictCounts
from annotation.models import Build
from annotation.stages import Event
from annotation.stats.agreement.figures import Floats
from retrieval.metrics.resampling import AGREEMENT_SEED, FEW, bootstrap_sums, percentile_interval

KEPT_SECONDS: Final = 3600


@dataclass(frozen=True, slots=True)
class Drift:
    """By how much a share (0 to 1) differs at the last place from the first, with its 95 % interval."""

    value: float
    low: float
    high: float

    @property
    def beyond_chance(self) -> bool:
        return not self.low <= 0 <= self.high


@dataclass(frozen=True, slots=True)
class Effect:
    """The shares by place; the drifts are None with fewer than two queries of two judged candidates."""

    places: tuple[PlaceVerdictCounts, ...]
    queries: int
    matches: Drift | None
    unclear: Drift | None

    @property
    def few_queries(self) -> bool:
        return self.queries < FEW


def get_position_bias(build: Build) -> Effect | None:
    """What is known now, kept until the build changes; None where pairs are screened one by one.

    It reads every case.
    """
    if not by_query(build):
        return None
    key, measure = position_bias_cache_key(build), partial(measure_position_bias, build)
    found: Effect | None = cache.get_or_set(key, measure, KEPT_SECONDS)
    return found


def find_cached_position_bias(build: Build) -> Effect | None:
    """What `get_position_bias` found last of the build as it is now; None where nobody has asked for it."""
    found: Effect | None = cache.get(position_bias_cache_key(build))
    return found


def position_bias_cache_key(build: Build) -> str:
    return f"place-effect:{build.pk}.{build.created_at:%s%f}.{build.tally.version}"


def measure_position_bias(build: Build) -> Effect:
    counts: dict[int, Counter[str]] = defaultdict(Counter)
    sums: dict[str, Floats] = defaultdict(lambda: np.zeros(3))
    for query, group in listwise.load_verdicts_by_place(build):
        for place, said in group:
            counts[place][said] += 1
        judged = [(place, said) for place, said in group if said]
        if len(judged) > 1:
            sums[query] += sum_request_places(judged)
    places = tuple(listwise.sum_place_verdicts(number, counts[number]) for number in sorted(counts))
    way = max(counts, default=1) - 1
    by_query = np.reshape(list(sums.values()), (len(sums), 3))
    matches, unclear = (estimate_position_drift(by_query[:, [verdict, 0]], way) for verdict in (1, 2))
    return Effect(places, len(by_query), matches, unclear)


def sum_request_places(judged: Sequence[tuple[int, str]]) -> Floats:
    """Squared places, then places times each verdict (match, unclear), all against the request's means."""
    middle = fmean(place for place, _ in judged)
    away = [(place - middle, said) for place, said in judged]
    verdicts = (
        sum(distance for distance, said in away if said == event) for event in (Event.MATCH, Event.UNCLEAR)
    )
    return np.array([sum(distance**2 for distance, _ in away), *verdicts])


def estimate_position_drift(given: Floats, way: int) -> Drift | None:
    """From (places times verdicts, squared places) of each query; None with fewer than two."""
    if len(given) < 2:
        return None
    whole, resampled = given.sum(axis=0), bootstrap_sums(given, AGREEMENT_SEED)
    between = percentile_interval(way * resampled[:, 0] / resampled[:, 1])
    return Drift(float(way * whole[0] / whole[1]), between.low, between.high)
