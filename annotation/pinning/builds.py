"""A build's own figures as a pin: shown from its totals, counted again from its cases, steps and calls."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from django.contrib.auth.models import User
from django.db.models import Count, Q, Sum

from annotation.models import Build, Case, LLMCall, Step, Tally
from annotation.pinning import grounds
from annotation.pinning.keeping import NothingToPin, keep
from annotation.stages import UNCLEAR_EVENTS, Event, Stage
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
            "case": grounds.last(Case.objects.filter(build=build)),
            "step": grounds.last(Step.objects.filter(case__build=build)),
            "call": grounds.last(LLMCall.objects.filter(build=build)),
        },
        "code": grounds.code(),
    }
    title = f"{build.name}: a build's own figures"
    return keep(Pin.Kind.BUILD, title, subject, with_shares(shown(tally)), ground, by)


def build_now(pin: Pin, tick: Callable[[], None]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The build's figures counted row by row, without what came after the pin. Of what is gone, nothing."""
    build = build_of(pin)
    if build is None:
        return {}, {**pin.ground, "cases": None}
    counted = recounted(build, pin.ground["last"])
    tick()
    cases = Case.objects.filter(build=build).count()
    return with_shares(counted), {**pin.ground, "cases": cases, "event": last_event(build)}


def build_of(pin: Pin) -> Build | None:
    return Build.objects.filter(pk=pin.subject["id"], name=pin.subject["name"]).first()


def last_event(build: Build) -> str:
    event = build.events.order_by("-pk").first()
    return f"{event.pk}: {event.event}" if event else ""


def shown(tally: Tally) -> dict[str, int]:
    """What the build's page tells."""
    return {"cases": tally.total, **{name: getattr(tally, name) for name in TOTALS}}


def recounted(build: Build, last: Mapping[str, int]) -> dict[str, int]:
    """The same, of the cases, steps and calls up to the `last` ids of each."""
    steps = Step.objects.filter(case__build=build, pk__lte=last["step"]).order_by()
    cases = Case.objects.filter(build=build, pk__lte=last["case"])
    calls = LLMCall.objects.filter(build=build, pk__lte=last["call"])
    found = steps.aggregate(
        cleared=counting(Event.MATCH, Event.NO_MATCH),
        unclear=counting(*UNCLEAR_EVENTS),
        written=counting(Event.WRITTEN),
        programs=counting(*TESTED, Event.REFUSED),
        ran=counting(*TESTED, execution__ran=True),
        asserted=counting(*TESTED, execution__asserted=True),
        touched=counting(*TESTED, execution__touched=True),
        arbitrated=counting(Event.ACCEPTED, Event.DENIED),
        gave_up=counting(Event.GAVE_UP),
        retried=counting(Event.RETRIED),
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


def counting(*events: Event, **conditions: object) -> Count:
    return Count("pk", filter=Q(event__in=events, **conditions))


def with_shares(counts: Mapping[str, int]) -> dict[str, Any]:
    """The counts, and the figures that are cited; None where nothing was counted. Costs are nanodollars."""
    paid = share(counts["spent"], counts["settled"]) if counts["spent"] else None
    return {
        "counts": dict(counts),
        "figures": {
            "executable rate": share(counts["ran"], counts["programs"]),
            "share of label 1": share(counts["matches"], counts["settled"]),
            "unclear share": share(counts["unclear"], counts["screened"]),
            "cost of a pair": paid,
        },
    }


def share(part: int, whole: int) -> float | None:
    return part / whole if whole else None
