"""Corpus statistics as pins: what is counted of what, and the same counted again, of what is stored now."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Any, Final, NamedTuple

from django.contrib.auth.models import User

from annotation.models import Build, BuildEvent
from annotation.pins.pin_record import (
    NothingToPin,
    benchmark_with,
    collect_code_versions,
    format_run_identity,
    last_benchmark_event,
    serialize_tables,
    store_pin,
)
from annotation.web.corpus import page
from annotation.web.corpus.page import Of
from annotation.web.corpus.ranks import paid_for
from retrieval.corpus import SAMPLED
from retrieval.corpus.overlap import find_compared_runs
from retrieval.models import Benchmark, Collection, Pin

MEMBERS_A_READ: Final = 5_000


class Now(NamedTuple):
    """Figures and grounds as they are at this moment."""

    value: dict[str, Any]
    ground: dict[str, Any]


def pin_corpus(of: str, what: Of, by: User | None = None) -> Pin:
    """Pin the statistics that the page of a build, benchmark or collection shows. Raises NothingToPin.

    Equal statistics of the same have one pin.
    """
    if isinstance(what, Build) and not what.is_over:
        state = what.get_state_display().lower()
        raise NothingToPin(f"The build {what.name!r} is {state}: its statistics are pinned once it is over.")
    last = _last_run(what)
    subject = {"of": of, "id": what.pk, "name": str(what), "sampled": SAMPLED, "last_run": last}
    found = count_pinned_corpus(what, last)
    if not found.value:
        raise NothingToPin(f"There is nothing in {of} “{what}” to count yet.")
    ground = {**found.ground, "code": collect_code_versions()}
    title = f"{what}: corpus statistics of a {of}"
    return store_pin(Pin.Kind.CORPUS, title, subject, found.value, ground, by)


def corpus_now(pin: Pin, tick: Callable[[], None]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The pin's statistics counted again; runs that came later are left out. Of what is gone, nothing."""
    what = what_of(pin)
    if what is None:
        return {}, {**pin.ground, "of": None}
    found = count_pinned_corpus(what, pin.subject["last_run"], pin.subject["sampled"])
    tick()
    return found.value, {**pin.ground, **found.ground}


def what_of(pin: Pin) -> Of | None:
    """What was counted, if it is still there: a benchmark by its content, else by its id and name."""
    if pin.subject["of"] == "benchmark":
        return benchmark_with(pin.ground["benchmark"], pin.subject["name"])
    kind = Build if pin.subject["of"] == "build" else Collection
    found: Build | Collection | None = kind._default_manager.filter(pk=pin.subject["id"]).first()
    return found if found is not None and str(found) == pin.subject["name"] else None


def count_pinned_corpus(what: Of, last_run: int | None, most: int | None = SAMPLED) -> Now:
    """Count, and say what it rests on."""
    sections = page.sections_of(what, most, last_run or 0)
    value = serialize_tables(section.table for section in sections if section.table.rows)
    if isinstance(what, Build):
        return Now(value, _of_build(what))
    return Now(
        value, _of_benchmark(what, last_run or 0) if isinstance(what, Benchmark) else _of_collection(what)
    )


def _last_run(what: Of) -> int | None:
    if not isinstance(what, Benchmark):
        return None
    return what.runs.order_by("-pk").values_list("pk", flat=True).first()


def _of_build(build: Build) -> dict[str, Any]:
    event = BuildEvent.objects.filter(build=build).order_by("-pk").first()
    told = f"{event.pk}: {event.event}" if event else ""
    return {"cases": build.tally.total, "settled": build.tally.settled, "event": told}


def _of_benchmark(benchmark: Benchmark, last_run: int) -> dict[str, Any]:
    return {
        "benchmark": benchmark.digest,
        "labels": benchmark.labels.count(),
        "event": last_benchmark_event(benchmark),
        "paid": paid_for(benchmark).words,
        "runs": {
            format_run_identity(run): run.code_version for run in find_compared_runs(benchmark, last_run)
        },
    }


def _of_collection(collection: Collection) -> dict[str, Any]:
    rows = collection.members.order_by("position").values_list("position", "text__body_id", "rules")
    whole = hashlib.sha256()
    for row in rows.iterator(MEMBERS_A_READ):
        whole.update(f"{row}\n".encode())
    return {"size": collection.size, "members": whole.hexdigest()}
