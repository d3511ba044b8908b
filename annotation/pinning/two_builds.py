"""Two builds over the pairs that both have, as a pin: what each said, what it took, and how the flips lie."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from django.contrib.auth.models import User

from annotation.agreement import RESAMPLES, SEED
from annotation.comparing import Comparison, Judged, compare, groups_of, spread, took
from annotation.models import Build, Case, Step
from annotation.pinning import grounds
from annotation.pinning.builds import last_event
from annotation.pinning.keeping import NothingToPin, keep
from retrieval.models import Pin


def pin_two_builds(first: Build, second: Build, by: User | None = None) -> Pin:
    """Pin what *Compare builds* shows of these two. Raises NothingToPin."""
    if first == second:
        raise NothingToPin("Choose two different builds.")
    for one in (first, second):
        if not one.is_over:
            state = one.get_state_display().lower()
            raise NothingToPin(f"The build {one.name!r} is {state}: it is compared for good once it is over.")
    found = compare(first, second)
    if not found.pairs:
        raise NothingToPin(f"{first.name!r} and {second.name!r} have no pair in common.")
    subject = {
        "builds": [{"id": one.pk, "name": one.name} for one in (first, second)],
        "seed": SEED,
        "resamples": RESAMPLES,
    }
    ground = {**grounds_of(first, second), "code": grounds.code()}
    title = f"{first.name} → {second.name}: {found.pairs:,} common pairs"
    return keep(Pin.Kind.TWO_BUILDS, title, subject, as_value(found), ground, by)


def two_builds_now(pin: Pin, tick: Callable[[], None]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The comparison counted anew of what is there; without one of the builds nothing.

    A case that was tried again since the pin counts as it is now, and the grounds tell it.
    """
    told = pin.subject["builds"]
    builds = [Build.objects.filter(pk=one["id"], name=one["name"]).first() for one in told]
    first, second = builds
    if first is None or second is None:
        return {}, {**pin.ground, "cases": [one and one.cases.count() for one in builds]}
    both = took(first, second), took(second, first)
    found = Comparison(first, second, groups_of(first, second), both, spread(first, second), ())
    tick()
    return as_value(found), {**pin.ground, **grounds_of(first, second)}


def as_value(found: Comparison) -> dict[str, Any]:
    """The figures of the page; queries by the ids of their texts."""
    flips = found.spread
    return {
        "pairs": found.pairs,
        "judged": found.judged,
        "flips": found.flips,
        "groups": {f"{said(one.first)} → {said(one.second)}": one.pairs for one in found.groups},
        "took": [asdict(one) for one in found.took],
        "agreement": flips.agreement and asdict(flips.agreement),
        "shift": flips.shift and asdict(flips.shift),
        "queries": flips.queries,
        "flipped queries": flips.flipped_queries,
        "worst queries": {str(query): list(counts) for query, *counts in flips.worst},
    }


def said(one: Judged) -> str:
    """For example `1 tested`."""
    return f"{'unjudged' if one.label is None else one.label} {'tested' if one.tested else 'clear'}"


def grounds_of(*builds: Build) -> dict[str, Any]:
    """Of both: who judged, how many cases there are, the last step and the last event."""
    return {
        "annotators": [str(one.annotator) for one in builds],
        "cases": [Case.objects.filter(build=one).count() for one in builds],
        "steps": [grounds.last(Step.objects.filter(case__build=one)) for one in builds],
        "event": " / ".join(map(last_event, builds)),
    }
