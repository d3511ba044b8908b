"""Computing a pin again from what is stored, and saying what differs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

from annotation.pins.builds import build_now, build_of_pin, two_builds_now
from annotation.pins.comparisons import comparison_now
from annotation.pins.leaderboards import (
    benchmark_of_pin,
    leaderboard_now,
    ordered_of,
    run_of_pin,
    without_now,
)
from annotation.pins.minings import RECALL, mining_now, recall_now
from annotation.pins.pin_record import Change, collect_code_versions, find_leaf_changes
from annotation.pins.reply_check import builds_of, labels_in, labels_of_build, read_again
from annotation.pins.studies import study_now
from retrieval.evaluation.content import content_of
from retrieval.evaluation.runs.stored_search import NotStored, searched_again
from retrieval.evaluation.runs.system_run import digest_of
from retrieval.models import Pin

Tick = Callable[[], None]
MINED: Final = "without"
"""The part of a leaderboard's pin that needs a mining, and so vectors."""
BY_VECTORS: Final = {
    MINED: "ranks without an encoder: not computed again; '--from vectors' mines again",
    RECALL: "recall of the index: not measured again; '--from vectors' searches exactly",
}
"""What is left out without vectors, and what is said of it."""
Now = Callable[[Pin, Tick], tuple[dict[str, Any], dict[str, Any]]]
"""Figures and grounds of a pin as they are now."""


@dataclass(frozen=True, slots=True)
class Reproduced:
    """What differs, and what is another than it was: each may be why. Equal where nothing differs.

    `notes`, for people: what was searched again, and what could not be.
    """

    pin: Pin
    changes: tuple[Change, ...]
    grounds: tuple[Change, ...]
    notes: tuple[str, ...] = ()

    @property
    def equal(self) -> bool:
        return not self.changes


def reproduce_pin(
    pin: Pin, tick: Tick = lambda: None, also: Mapping[str, Now] = MappingProxyType({})
) -> Reproduced:
    """Compute the pin's figures again, from stored lists, labels and ratings up to the moment of the pin.

    `tick` is called after each part of the work; `also` computes kinds of pins that the pages take.
    """
    again: dict[str, Now] = {
        Pin.Kind.STUDY: study_now,
        Pin.Kind.LEADERBOARD: leaderboard_now,
        Pin.Kind.COMPARISON: comparison_now,
        Pin.Kind.BUILD: build_now,
        Pin.Kind.MINING: mining_now,
        Pin.Kind.TWO_BUILDS: two_builds_now,
        **also,
    }
    value, ground = again[pin.kind](pin, tick)
    ground["code"] = collect_code_versions()
    pinned = {key: part for key, part in pin.value.items() if key not in BY_VECTORS}
    notes = tuple(said for key, said in BY_VECTORS.items() if key in pin.value)
    return Reproduced(
        pin, tuple(find_leaf_changes(pinned, value)), tuple(find_leaf_changes(pin.ground, ground)), notes
    )


def search_too(found: Reproduced, vectors: Path, tick: Tick = lambda: None) -> Reproduced:
    """Also search each run of a pinned leaderboard again, by the vectors that are stored in a folder.

    A run whose lists come out otherwise is a change, by their hashes. Of a mining its index's recall.
    """
    if found.pin.kind == Pin.Kind.MINING:
        return measure_too(found, vectors)
    pin, notes, more = found.pin, list[str](), list[Change]()
    benchmark = benchmark_of_pin(pin) if pin.kind == Pin.Kind.LEADERBOARD else None
    if benchmark is None:
        return replace(
            found, notes=("Only a leaderboard's runs, and for a mining's recall, can be searched again.",)
        )
    content = content_of(benchmark)
    for told in pin.subject["runs"]:
        run = run_of_pin(benchmark, pin.subject, told)
        try:
            if run is None:
                raise NotStored("the run is gone")
            digest = digest_of(searched_again(run, content, vectors), content.queries)
            if digest != told["digest"]:
                more.append(Change(f"lists/{told['name']}", told["digest"], digest))
            notes.append(f"{describe_pinned_run(told)}: searched again")
        except NotStored as why:
            notes.append(f"{describe_pinned_run(told)}: not searched again: {why}")
        tick()
    if MINED in pin.value:
        try:
            now = without_now(benchmark, ordered_of(pin, benchmark), pin.subject, vectors, tick)
            more += find_leaf_changes(pin.value[MINED], now, MINED)
            notes.append("ranks without an encoder: mined again")
        except NotStored as why:
            notes.append(f"ranks without an encoder: not mined again: {why}")
    return replace(found, changes=(*found.changes, *more), notes=tuple(notes))


def describe_pinned_run(told: Mapping[str, str]) -> str:
    """A pinned run, which one of the same system searched another text."""
    return told["system"] if told["text"] in ("", "whole") else f"{told['system']} ({told['text']})"


def measure_too(found: Reproduced, vectors: Path) -> Reproduced:
    """Also measure the recall of a pinned mining's index again."""
    if RECALL not in found.pin.value:
        return replace(found, notes=("It was searched exactly: there is no recall to measure.",))
    try:
        more = find_leaf_changes(found.pin.value[RECALL], recall_now(found.pin, vectors), RECALL)
    except NotStored as why:
        return replace(found, notes=(f"recall of the index: not measured again: {why}",))
    notes = ("recall of the index: measured again by exact search",)
    return replace(found, changes=(*found.changes, *more), notes=notes)


def read_too(found: Reproduced, tick: Tick = lambda: None) -> Reproduced:
    """Also read the stored replies of the build of a pin again, or of those that became its benchmark.

    A verdict that comes out otherwise than a step, a case or a label is a change; some are shown.
    """
    pin = found.pin
    build = build_of_pin(pin) if pin.kind == Pin.Kind.BUILD else None
    benchmark = benchmark_of_pin(pin) if pin.kind == Pin.Kind.LEADERBOARD else None
    if build is not None:
        again = read_again([build], labels_of_build, pin.ground["last"]["step"], tick)
    elif benchmark is not None and (builds := list(builds_of(benchmark))):
        again = read_again(builds, labels_in(benchmark), tick=tick)
    else:
        note = "Only a build's figures, and a leaderboard of a benchmark published from one, rest on replies."
        return replace(found, notes=(*found.notes, note))
    notes = [*found.notes, again.words()]
    if benchmark is not None and (others := benchmark.labels.count() - again.labels):
        verb = "label of the benchmark is" if others == 1 else "labels of the benchmark are"
        notes.append(f"{others:,} {verb} not from one reply: of a person, or of a merge")
    return replace(found, changes=(*found.changes, *again.changes), notes=tuple(notes))
