"""Benchmarks as commands name them."""

from __future__ import annotations

from retrieval.models import Benchmark


def find_benchmark(told: str) -> Benchmark | None:
    """`NAME@VERSION`, or the newest of that name; None where there is none."""
    name, _, version = told.rpartition("@")
    if name and version.isascii() and version.isdigit() and len(version) < 10:
        found = Benchmark.objects.filter(name=name, version=int(version)).first()
        if found is not None:
            return found
    return Benchmark.objects.newest(told)
