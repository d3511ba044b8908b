"""The candidates that are screened in one request: who, in which order, and whether places matter."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from typing import Any, TypeVar

from annotation.agents.query_screener import MOST_AT_ONCE, shuffle_for_query
from annotation.models import Build, Case, Step
from annotation.stages import UNCLEAR_EVENTS, Event, Stage
from retrieval.models import Annotator

CHUNK = 2000
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class PlaceVerdictCounts:
    """What the screener said of the candidates that it saw at one place of its requests, from 1 on."""

    number: int
    pairs: int
    matches: int
    unclear: int


def find_request_cases(case: Case) -> list[Case]:
    """The cases of the request that `case` is in, in the order in which they are shown, with their texts.

    What an extension of the build has added is asked by itself: the others have been paid for.
    """
    cases = Case.objects.filter(build=case.build_id, round=case.round, query=case.query_id)
    if case.candidate.mining_id is not None:  # given pairs are of one list
        cases = cases.filter(candidate__mining=case.candidate.mining_id)
    ranked = cases.select_related("pair__snippet__body").order_by("rank", "pk")
    groups = group_listwise_requests(list(ranked), seed_of(case.annotator), case.pair.query.digest)
    return next(group for group in groups if any(one.pk == case.pk for one in group))


def load_verdicts_by_place(build: Build) -> Iterator[tuple[str, list[tuple[int, str]]]]:
    """For each request: its query's digest, and (place, what the screener said, empty: nothing yet) of each
    candidate. Two queries.
    """
    events = load_screened_cases(build).iterator(CHUNK)
    said = {case: Event.UNCLEAR if event in UNCLEAR_EVENTS else event for case, event in events}
    for (_, digest, _), cases in groupby(load_ranked_cases(build).iterator(CHUNK), key=itemgetter(0, 1, 2)):
        for group in group_listwise_requests([pk for *_, pk in cases], seed_of(build.annotator), digest):
            yield digest, [(place, said.get(pk, "")) for place, pk in enumerate(group, 1)]


def sum_place_verdicts(number: int, found: Counter[str]) -> PlaceVerdictCounts:
    judged = found.total() - found[""]
    return PlaceVerdictCounts(number, judged, found[Event.MATCH], found[Event.UNCLEAR])


def load_screened_cases(build: Build) -> Any:
    """Cases of the build and what the screener said of them."""
    steps = Step.objects.filter(
        case__build=build, before=Stage.SCREENING, event__in=[Event.MATCH, Event.NO_MATCH, *UNCLEAR_EVENTS]
    )
    return steps.order_by().values_list("case_id", "event")


def load_ranked_cases(build: Build) -> Any:
    """Round, digest of the query, mining and id of each case, as requests are made up: also by rank."""
    cases = Case.objects.filter(build=build)
    cases = cases.order_by("round", "query_id", "candidate__mining", "rank", "pk")
    return cases.values_list("round", "query__body_id", "candidate__mining", "pk")


def group_listwise_requests(cases: list[T], seed: int, query: str) -> Iterator[list[T]]:
    """All candidates of a query by rank, as its requests show them."""
    order = shuffle_for_query(cases, seed, query)
    for start in range(0, len(order), MOST_AT_ONCE):
        yield order[start : start + MOST_AT_ONCE]


def seed_of(annotator: Annotator) -> int:
    return int(annotator.config.get("seed", 1))
