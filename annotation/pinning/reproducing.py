"""Computing a pin again from what is stored, and saying what differs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from types import MappingProxyType
from typing import Any

from annotation.models import Study
from annotation.pinning import grounds, values
from annotation.pinning.comparing import Change, changes
from annotation.studies.figures import NoFigures, compute
from annotation.studies.gathering import Until
from retrieval.evaluation.again import Again, computed_again
from retrieval.evaluation.leaderboard import Queries
from retrieval.metrics.names import measures
from retrieval.models import Benchmark, Pin, Run

Tick = Callable[[], None]
Now = Callable[[Pin, Tick], tuple[dict[str, Any], dict[str, Any]]]
"""Figures and grounds of a pin as they are now."""


@dataclass(frozen=True, slots=True)
class Reproduced:
    """What differs, and what is another than it was: each may be why. Equal where nothing differs."""

    pin: Pin
    changes: tuple[Change, ...]
    grounds: tuple[Change, ...]

    @property
    def equal(self) -> bool:
        return not self.changes


def reproduce(
    pin: Pin, tick: Tick = lambda: None, also: Mapping[str, Now] = MappingProxyType({})
) -> Reproduced:
    """Compute the pin's figures again, from stored lists, labels and ratings up to the moment of the pin.

    `tick` is called after each part of the work; `also` computes kinds of pins that the pages take.
    """
    again: dict[str, Now] = {Pin.Kind.STUDY: study_now, Pin.Kind.LEADERBOARD: board_now, **also}
    value, ground = again[pin.kind](pin, tick)
    ground["code"] = grounds.code()
    return Reproduced(pin, tuple(changes(pin.value, value)), tuple(changes(pin.ground, ground)))


def board_now(pin: Pin, tick: Tick) -> tuple[dict[str, Any], dict[str, Any]]:
    """A leaderboard's figures and grounds as they are now; without its benchmark or a run, without those."""
    subject, ground = pin.subject, dict(pin.ground)
    benchmark = benchmark_of(pin)
    if benchmark is None:
        return {}, {**ground, "benchmark": None, "labels": None}
    asked = {
        run: measures(pin.value["figures"][told["name"]])
        for told in subject["runs"]
        if pin.value["figures"].get(told["name"]) and (run := run_of(benchmark, subject, told)) is not None
    }
    queries = Queries(subject["fewest"], subject["most"])
    found = computed_again(benchmark, asked, subject["metric"], queries, tick)
    figures = {run: found.figures[run.pk] for run in asked}
    now = values.board(figures, found.differences, found.queries)
    for told in subject["runs"]:  # a run without any metric has nothing to compute
        if not pin.value["figures"].get(told["name"]):
            now["figures"][told["name"]] = {}
    ground |= {
        "benchmark": benchmark.digest,
        "labels": benchmark.labels.count(),
        "event": grounds.last_event(benchmark),
    }
    return now, ground | dict(spoilt(asked, found))


def spoilt(asked: Mapping[Run, Any], found: Again) -> Iterator[tuple[str, Any]]:
    """Runs whose lists are not those of their hash any more."""
    changed = {
        values.named(run): found.digests[run.pk] for run in asked if found.digests[run.pk] != run.digest
    }
    if changed:
        yield "lists", changed


def benchmark_of(pin: Pin) -> Benchmark | None:
    """By its content; of several with the same, the one of that name."""
    same = Benchmark.objects.filter(digest=pin.ground["benchmark"])
    named = [one for one in same if str(one) == pin.subject["benchmark"]]
    return named[0] if named else same.first()


def run_of(benchmark: Benchmark, subject: Mapping[str, Any], told: Mapping[str, str]) -> Run | None:
    rows = benchmark.runs.filter(pool=subject["pool"], digest=told["digest"])
    return rows.filter(system=told["system"], text_option=told["text"]).first()


def study_now(pin: Pin, tick: Tick) -> tuple[dict[str, Any], dict[str, Any]]:
    """A study's figures at the moment of the pin, computed now, and its plan as it is now."""
    study = Study.objects.filter(pk=pin.subject["id"]).first()
    if study is None:
        return {}, {**pin.ground, "plan": None}
    last = pin.ground["last"]
    until = Until(**{**last, "at": datetime.fromisoformat(last["at"])})
    try:
        value = values.study(compute(study, until))
    except NoFigures:
        value = {}
    tick()
    return value, {**pin.ground, "plan": study.plan_hash}
