"""A figure of the leaderboard as a pin: what it rests on, and how it is computed again from the lists."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import numpy as np

from retrieval.evaluation.content import Content, content_of
from retrieval.evaluation.leaderboard import Queries, digests_of, figures_of
from retrieval.evaluation.running import code_version, digest_of, ranking
from retrieval.evaluation.scoring import Figure, figures, scored
from retrieval.metrics.names import UnknownMeasure, measure
from retrieval.metrics.resampling import RESAMPLES, SEED
from retrieval.models import Benchmark, Pin, RankedList, Run

Json = dict[str, Any]


class NotPinned(ValueError):
    """There is no such figure to pin; the message says what is missing."""


def subject_of(run: Run, metric: str, queries: Queries) -> Json:
    """Which figure: of what, by which options and seeds."""
    return {
        "benchmark": str(run.benchmark),
        "benchmark_id": run.benchmark_id,
        "run": run.pk,
        "system": run.system,
        "text_option": run.text_option,
        "pool": run.pool,
        "options": run.options,
        "encoders": run.encoders,
        "metric": metric,
        "queries": asdict(queries),
        "seed": SEED,
        "resamples": RESAMPLES,
    }


def shown(run: Run, metric: str, queries: Queries) -> Json:
    """The figure as the leaderboard shows it. Raises `NotPinned`."""
    found = figures_of(run.benchmark, [run], digests_of([run]), queries)[run.pk]
    if metric not in found or found[metric].value is None:
        raise NotPinned(f"{run.title} has no {metric or 'such metric'} on these queries.")
    return asdict(found[metric])


def ground_of(run: Run, metric: str) -> Json:
    """What the figure rests on: hashes of benchmark, labels, lists and scores, and versions of the code."""
    content = content_of(run.benchmark)
    return {
        "benchmark": run.benchmark.digest,
        "labels": labels_digest(content),
        "lists": run.digest,
        "scores": _stored_scores(run, metric),
        "searched_by": run.code_version,
        "code": code_version(),
    }


def _stored_scores(run: Run, metric: str) -> str:
    row = run.scores.get(metric=metric)
    return hashlib.sha256(bytes(row.values) + bytes(row.condensed) + bytes(row.judged)).hexdigest()


def labels_digest(content: Content) -> str:
    """sha256 (hex) of a benchmark's queries, snippets and labels as they are stored now."""
    whole = hashlib.sha256()
    for ids in (content.queries, content.snippets):
        whole.update(np.asarray(ids, dtype="<i8").tobytes() + b"\n")
    for query in content.queries:
        whole.update(repr((query, sorted(content.judged(query).items()))).encode())
    return whole.hexdigest()


def again(pin: Pin) -> tuple[Json, Json]:
    """The value and the ground of a pin, computed again from stored lists and labels alone.

    Raises `NotPinned` where the run or the benchmark is gone.
    """
    subject = pin.subject
    run = Run.objects.select_related("benchmark").filter(pk=subject["run"]).first()
    if run is None:
        raise NotPinned(f"Run {subject['run']} of {subject['benchmark']} is not there any more.")
    content = content_of(run.benchmark)
    rows = RankedList.objects.filter(run=run).values_list("query_id", "data").iterator(500)
    lists = {query: np.frombuffer(bytes(data), "<u4") for query, data in rows}
    try:
        wanted = measure(subject["metric"])
    except UnknownMeasure as why:
        raise NotPinned(str(why)) from why
    found = scored([wanted], (ranking(content, query, lists.get(query)) for query in content.queries))
    value = _figure(run.benchmark, found, Queries(**subject["queries"]))
    bytes_of = [getattr(found[0], name).astype("<f8").tobytes() for name in ("values", "condensed", "judged")]
    ground = {
        "benchmark": run.benchmark.digest,
        "labels": labels_digest(content),
        "lists": digest_of(lists, content.queries),
        "scores": hashlib.sha256(b"".join(bytes_of)).hexdigest(),
        "searched_by": run.code_version,
        "code": code_version(),
    }
    return asdict(value), ground


def _figure(benchmark: Benchmark, found: list[Any], queries: Queries) -> Figure:
    condensed, chosen = benchmark.has_judged_non_matches, queries.chosen(benchmark)
    return figures(found, condensed=condensed, chosen=chosen)[0]


def unequal(first: object, second: object, path: str = "") -> list[str]:
    """Where two values of JSON differ, in words; numbers within 1e-12 are equal."""
    if isinstance(first, Mapping) and isinstance(second, Mapping):
        names = [*first, *(name for name in second if name not in first)]
        return [
            line
            for name in names
            for line in unequal(first.get(name), second.get(name), f"{path}.{name}" if path else str(name))
        ]
    if isinstance(first, float) and isinstance(second, float) and abs(first - second) <= 1e-12:
        return []
    return [] if first == second else [f"{path}: {first!r} then, {second!r} now"]
