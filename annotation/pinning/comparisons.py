"""Two versions of a benchmark beside each other, as a pin: labels that changed, scores on common queries."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict
from typing import Any

from django.contrib.auth.models import User

from annotation.pinning import grounds, values
from annotation.pinning.keeping import NothingToPin, keep
from annotation.studies.planning import StudyRefused
from annotation.studies.sealing import refuse_unscored_labels
from retrieval.evaluation.again import lists_of
from retrieval.evaluation.comparing import (
    Comparison,
    NotOneVersion,
    compare,
    compared_again,
    refuse_another,
    runs_of,
)
from retrieval.evaluation.content import query_members
from retrieval.evaluation.running import digest_of
from retrieval.metrics import resampling
from retrieval.models import Benchmark, Pin, Run

Pairs = Mapping[str, tuple[Run, Run]]
"""By a system's title the runs that are measured by the first version's labels and by the second's."""


def pin_comparison(
    first: Benchmark, second: Benchmark, metric: str = "", by: User | None = None, *, wait: bool = True
) -> Pin:
    """Pin what *Compare versions* shows. Raises NothingToPin, also where a page, without `wait`, can't."""
    try:
        refuse_unscored_labels(first, second)
        found = compare(first, second, metric, wait=wait)
        refuse_another(found, metric)
    except (NotOneVersion, StudyRefused) as why:
        raise NothingToPin(str(why)) from why
    if found.unmeasured:
        raise NothingToPin(
            "Too many labels to measure the systems while a page waits: "
            f"'manage.py pin --compare {first} {second}' does, and pins it."
        )
    compared = {one.system for one in found.systems}
    runs = {title: of for title, of in runs_of(first, second).items() if title in compared}
    subject = {
        "first": str(first),
        "second": str(second),
        "pool": second.pool,
        "metric": found.metric,
        "systems": {title: [named(run) for run in of] for title, of in runs.items()},
        "seed": resampling.SEED,
        "resamples": resampling.RESAMPLES,
    }
    ground = {
        "before": first.digest,
        "benchmark": second.digest,
        "labels": [first.size, second.size],
        "event": grounds.last_event(second),
        "runs": {values.named(run): run.code_version for of in runs.values() for run in of},
        "code": grounds.code(),
    }
    title = f"{first} → {second}" + (f" by {found.metric}: {len(runs)} systems" if runs else ": labels")
    return keep(Pin.Kind.COMPARISON, title, subject, as_value(found), ground, by)


def as_value(found: Comparison) -> dict[str, Any]:
    """The figures of the page."""
    return {
        "labels": {one.said: one.pairs for one in found.changes} | {"unchanged": found.unchanged},
        "queries": dict(zip(("first", "second", "common"), found.queries, strict=True)),
        "systems": {
            one.system: {key: value for key, value in asdict(one).items() if key != "system"}
            for one in found.systems
        },
        "kendall_tau": found.tau,
    }


def named(run: Run) -> dict[str, str]:
    """A run by its lists and the benchmark that it searched, which another database has too."""
    return {
        "system": run.system,
        "text": run.text_option,
        "digest": run.digest,
        "benchmark": run.benchmark.digest,
    }


def comparison_now(pin: Pin, tick: Callable[[], None]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The comparison and its grounds as they are now; without a benchmark nothing, without a run not its."""
    subject, ground = pin.subject, dict(pin.ground)
    first = grounds.benchmark_with(ground["before"], subject["first"])
    second = grounds.benchmark_with(ground["benchmark"], subject["second"])
    if first is None or second is None:
        gone = {"before": first and first.digest, "benchmark": second and second.digest}
        return {}, {**ground, **gone}
    runs = dict(runs_now(subject))
    found = compared_again(first, second, runs, subject["metric"])
    tick()
    ground |= {
        "labels": [first.labels.count(), second.labels.count()],
        "event": grounds.last_event(second),
    }
    return as_value(found), ground | dict(spoilt(runs))


def runs_now(subject: Mapping[str, Any]) -> Iterator[tuple[str, tuple[Run, Run]]]:
    """The systems whose runs are both still there."""
    for title, told in subject["systems"].items():
        found = [run_of(subject["pool"], one) for one in told]
        if found[0] is not None and found[1] is not None:
            yield title, (found[0], found[1])


def run_of(pool: str, told: Mapping[str, str]) -> Run | None:
    rows = Run.objects.filter(benchmark__digest=told["benchmark"], pool=pool, digest=told["digest"])
    return rows.filter(system=told["system"], text_option=told["text"]).select_related("benchmark").first()


def spoilt(runs: Pairs) -> Iterator[tuple[str, Any]]:
    """Runs whose lists are not those of their hash any more."""
    every = {run.pk: run for of in runs.values() for run in of}.values()
    found = {values.named(run): digest_of(lists_of(run), queries_of(run.benchmark)) for run in every}
    changed = {name: digest for run in every if (digest := found[name := values.named(run)]) != run.digest}
    if changed:
        yield "lists", changed


def queries_of(benchmark: Benchmark) -> list[int]:
    """Ids of the queries' texts, by their number."""
    return list(query_members(benchmark).values_list("text_id", flat=True))
