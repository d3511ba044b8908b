"""Two versions of a benchmark beside each other, as a pin: labels that changed, scores on common queries."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict
from typing import Any

from django.contrib.auth.models import User

from annotation.pins.pin_record import (
    NothingToPin,
    benchmark_with,
    collect_code_versions,
    find_pinned_run,
    format_run_identity,
    identify_run,
    last_benchmark_event,
    note_altered_runs,
    store_pin,
)
from annotation.studies.plan.plan import StudyRefused
from annotation.studies.plan.seals import refuse_unscored_labels
from retrieval.evaluation.content import query_keys
from retrieval.evaluation.robustness.recomputation import lists_of
from retrieval.evaluation.robustness.version_comparison import (
    BenchmarkComparison,
    NotOneVersion,
    compare_benchmarks,
    compared_again,
    refuse_another,
    runs_of_versions,
)
from retrieval.evaluation.runs.system_run import digest_of
from retrieval.metrics.resampling import RANKING_SEED, RESAMPLES
from retrieval.models import Benchmark, Pin, Run

Pairs = Mapping[str, tuple[Run, Run]]
"""By a system's title the runs that are measured by the first version's labels and by the second's."""


def pin_comparison(
    first: Benchmark, second: Benchmark, metric: str = "", by: User | None = None, *, wait: bool = True
) -> Pin:
    """Pin what *Compare versions* shows. Raises NothingToPin, also where a page, without `wait`, can't."""
    try:
        refuse_unscored_labels(first, second)
        found = compare_benchmarks(first, second, metric, wait=wait)
        refuse_another(found, metric)
    except (NotOneVersion, StudyRefused) as why:
        raise NothingToPin(str(why)) from why
    if found.unmeasured:
        raise NothingToPin(
            "Too many labels to measure the systems while a page waits: "
            f"'cosqa admin pin --compare {first} {second}' does, and pins it."
        )
    compared = {system.system for system in found.systems}
    runs = {title: of for title, of in runs_of_versions(first, second).items() if title in compared}
    subject = {
        "first": str(first),
        "second": str(second),
        "pool": second.pool,
        "metric": found.metric,
        "systems": {
            title: [identify_run(run, benchmark=run.benchmark.digest) for run in of]
            for title, of in runs.items()
        },
        "seed": RANKING_SEED,
        "resamples": RESAMPLES,
    }
    ground = {
        "before": first.digest,
        "benchmark": second.digest,
        "labels": [first.size, second.size],
        "event": last_benchmark_event(second),
        "runs": {format_run_identity(run): run.code_version for of in runs.values() for run in of},
        "code": collect_code_versions(),
    }
    title = f"{first} → {second}" + (f" by {found.metric}: {len(runs)} systems" if runs else ": labels")
    return store_pin(Pin.Kind.COMPARISON, title, subject, as_value(found), ground, by)


def as_value(found: BenchmarkComparison) -> dict[str, Any]:
    """The figures of the page."""
    return {
        "labels": {change.said: change.pairs for change in found.changes} | {"unchanged": found.unchanged},
        "queries": dict(zip(("first", "second", "common"), found.queries, strict=True)),
        "systems": {
            system.system: {key: value for key, value in asdict(system).items() if key != "system"}
            for system in found.systems
        },
        "kendall_tau": found.tau,
    }


def comparison_now(pin: Pin, tick: Callable[[], None]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The comparison and its grounds as they are now; without a benchmark nothing, without a run not its."""
    subject, ground = pin.subject, dict(pin.ground)
    first = benchmark_with(ground["before"], subject["first"])
    second = benchmark_with(ground["benchmark"], subject["second"])
    if first is None or second is None:
        gone = {"before": first and first.digest, "benchmark": second and second.digest}
        return {}, {**ground, **gone}
    runs = dict(runs_now(subject))
    found = compared_again(first, second, runs, subject["metric"])
    tick()
    ground |= {
        "labels": [first.labels.count(), second.labels.count()],
        "event": last_benchmark_event(second),
    }
    return as_value(found), ground | note_altered_runs(digest_lists_again(runs))


def runs_now(subject: Mapping[str, Any]) -> Iterator[tuple[str, tuple[Run, Run]]]:
    """The systems whose runs are both still there."""
    for title, told in subject["systems"].items():
        found = [run_of(subject["pool"], one) for one in told]
        if found[0] is not None and found[1] is not None:
            yield title, (found[0], found[1])


def run_of(pool: str, told: Mapping[str, str]) -> Run | None:
    runs = Run.objects.filter(benchmark__digest=told["benchmark"]).select_related("benchmark")
    return find_pinned_run(runs, pool, told)


def digest_lists_again(runs: Pairs) -> dict[Run, str]:
    """The hash of each run's lists as they are now."""
    every = {run.pk: run for of in runs.values() for run in of}.values()
    return {run: digest_of(lists_of(run), query_keys(run.benchmark)) for run in every}
