"""Builds as pins: one build's own figures, and two builds over the pairs that both have.

A build's figures are shown from its totals, and counted again from its cases, steps and calls.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Any, Final

from django.contrib.auth.models import User
from django.db.models import Count, Q, Sum

from annotation.builds.results.build_comparison import (
    BuildComparison,
    Judged,
    compare_two_builds,
    compute_build_comparison,
)
from annotation.models import Build, Case, LLMCall, Step
from annotation.pins.pin_record import NothingToPin, collect_code_versions, last_row_id, store_pin
from annotation.stages import TO_TEST_EVENTS, Event, Stage
from retrieval.metrics.resampling import AGREEMENT_SEED, RESAMPLES
from retrieval.models import Pin

TOTALS: Final = (
    "screened",
    "cleared",
    "unclear",
    "written",
    "programs",
    "ran",
    "asserted",
    "touched",
    "arbitrated",
    "settled",
    "abandoned",
    "matches",
    "spent",
)
"""The columns of a build's totals that are pinned beside the number of its cases."""
TESTED: Final = (Event.EXECUTED, Event.TESTED_NOTHING)
"""A program's run is over; where its module could not be had, it is over without one."""


def pin_build(build: Build, by: User | None = None) -> Pin:
    """Pin the funnel of a build, its shares and its cost. Raises NothingToPin while it is not over."""
    if not build.is_over:
        state = build.get_state_display().lower()
        raise NothingToPin(f"The build {build.name!r} is {state}: its figures are pinned once it is over.")
    tally = build.tally
    if not tally.total:
        raise NothingToPin(f"The build {build.name!r} has no cases: there is no figure.")
    subject = {"of": "build", "id": build.pk, "name": build.name, "rounds": build.rounds}
    ground = {
        "annotator": str(build.annotator),
        "model": build.model,
        "cases": Case.objects.filter(build=build).count(),
        "event": last_event(build),
        "last": {
            "case": last_row_id(Case.objects.filter(build=build)),
            "step": last_row_id(Step.objects.filter(case__build=build)),
            "call": last_row_id(LLMCall.objects.filter(build=build)),
        },
        "code": collect_code_versions(),
    }
    shown = {"cases": tally.total, **{name: getattr(tally, name) for name in TOTALS}}
    title = f"{build.name}: a build's own figures"
    return store_pin(Pin.Kind.BUILD, title, subject, with_shares(shown), ground, by)


def build_now(pin: Pin, tick: Callable[[], None]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The build's figures counted row by row, without what came after the pin. Of what is gone, nothing."""
    build = build_of_pin(pin)
    if build is None:
        return {}, {**pin.ground, "cases": None}
    counted = recount_build_figures(build, pin.ground["last"])
    tick()
    cases = Case.objects.filter(build=build).count()
    return with_shares(counted), {**pin.ground, "cases": cases, "event": last_event(build)}


def build_of_pin(pin: Pin) -> Build | None:
    return Build.objects.filter(pk=pin.subject["id"], name=pin.subject["name"]).first()


def last_event(build: Build) -> str:
    event = build.events.order_by("-pk").first()
    return f"{event.pk}: {event.event}" if event else ""


def recount_build_figures(build: Build, last: Mapping[str, int]) -> dict[str, int]:
    """What the build's page tells, of the cases, steps and calls up to the `last` ids of each."""
    steps = Step.objects.filter(case__build=build, pk__lte=last["step"]).order_by()
    cases = Case.objects.filter(build=build, pk__lte=last["case"])
    calls = LLMCall.objects.filter(build=build, pk__lte=last["call"])
    found = steps.aggregate(
        cleared=event_count_aggregate(Event.MATCH, Event.NO_MATCH),
        unclear=event_count_aggregate(*TO_TEST_EVENTS),
        written=event_count_aggregate(Event.WRITTEN),
        programs=event_count_aggregate(*TESTED, Event.REFUSED),
        ran=event_count_aggregate(*TESTED, execution__ran=True),
        asserted=event_count_aggregate(*TESTED, execution__asserted=True),
        touched=event_count_aggregate(*TESTED, execution__touched=True),
        arbitrated=event_count_aggregate(Event.ACCEPTED, Event.DENIED),
        gave_up=event_count_aggregate(Event.GAVE_UP),
        retried=event_count_aggregate(Event.RETRIED),
    )
    abandoned = found.pop("gave_up") - found.pop("retried")
    settled = cases.filter(steps__after=Stage.SETTLED, steps__pk__lte=last["step"]).order_by()
    labelled = settled.aggregate(
        settled=Count("pk", filter=Q(label__isnull=False)), matches=Count("pk", filter=Q(label=1))
    )
    return {
        "cases": cases.count(),
        "screened": found["cleared"] + found["unclear"],
        **found,
        "abandoned": abandoned,
        **labelled,
        "spent": calls.aggregate(spent=Sum("cost", default=0))["spent"],
    }


def event_count_aggregate(*events: Event, **conditions: object) -> Count:
    return Count("pk", filter=Q(event__in=events, **conditions))


def with_shares(counts: Mapping[str, int]) -> dict[str, Any]:
    """The counts, and the figures that are cited; None where nothing was counted. Costs are nanodollars."""
    paid = compute_pinned_share(counts["spent"], counts["settled"]) if counts["spent"] else None
    return {
        "counts": dict(counts),
        "figures": {
            "executable rate": compute_pinned_share(counts["ran"], counts["programs"]),
            "share of label 1": compute_pinned_share(counts["matches"], counts["settled"]),
            "unclear share": compute_pinned_share(counts["unclear"], counts["screened"]),
            "cost of a pair": paid,
        },
    }


def compute_pinned_share(part: int, whole: int) -> float | None:
    return part / whole if whole else None


def pin_two_builds(first: Build, second: Build, by: User | None = None) -> Pin:
    """Pin what *Compare builds* shows of these two. Raises NothingToPin."""
    if first == second:
        raise NothingToPin("Choose two different builds.")
    for one in (first, second):
        if not one.is_over:
            state = one.get_state_display().lower()
            raise NothingToPin(f"The build {one.name!r} is {state}: it is compared for good once it is over.")
    found = compare_two_builds(first, second)
    if not found.pairs:
        raise NothingToPin(f"{first.name!r} and {second.name!r} have no pair in common.")
    subject = {
        "builds": [{"id": one.pk, "name": one.name} for one in (first, second)],
        "seed": AGREEMENT_SEED,
        "resamples": RESAMPLES,
    }
    ground = {**grounds_of(first, second), "code": collect_code_versions()}
    title = f"{first.name} → {second.name}: {found.pairs:,} common pairs"
    return store_pin(Pin.Kind.TWO_BUILDS, title, subject, serialize_two_builds(found), ground, by)


def two_builds_now(pin: Pin, tick: Callable[[], None]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The comparison counted anew of what is there; without one of the builds nothing.

    A case that was tried again since the pin counts as it is now, and the grounds tell it.
    """
    told = pin.subject["builds"]
    builds = [Build.objects.filter(pk=one["id"], name=one["name"]).first() for one in told]
    first, second = builds
    if first is None or second is None:
        return {}, {**pin.ground, "cases": [build and build.cases.count() for build in builds]}
    found = BuildComparison(first=first, second=second, **compute_build_comparison(first, second))
    tick()
    return serialize_two_builds(found), {**pin.ground, **grounds_of(first, second)}


def serialize_two_builds(found: BuildComparison) -> dict[str, Any]:
    """The figures of the page; queries by the ids of their texts."""
    agreement, shift = found.figures.agreement, found.figures.shift
    return {
        "pairs": found.pairs,
        "judged": found.judged,
        "flips": found.flips,
        "groups": {
            f"{format_judged_label(group.first)} → {format_judged_label(group.second)}": group.pairs
            for group in found.groups
        },
        "took": [asdict(one) for one in found.took],
        "agreement": agreement and asdict(agreement),
        "shift": shift and asdict(shift),
        "queries": found.queries,
        "flipped queries": found.flipped_queries,
        "worst queries": {str(row.query): [row.to_match, row.to_no_match, row.pairs] for row in found.worst},
    }


def format_judged_label(one: Judged) -> str:
    """For example `1 tested`."""
    return f"{'unjudged' if one.label is None else one.label} {'tested' if one.tested else 'clear'}"


def grounds_of(*builds: Build) -> dict[str, Any]:
    """Of both: who judged, how many cases there are, the last step and the last event."""
    return {
        "annotators": [str(build.annotator) for build in builds],
        "cases": [Case.objects.filter(build=build).count() for build in builds],
        "steps": [last_row_id(Step.objects.filter(case__build=build)) for build in builds],
        "event": " / ".join(map(last_event, builds)),
    }
