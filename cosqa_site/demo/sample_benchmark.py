"""The sample's benchmark: the labels of its build, with three systems that need no model."""

from __future__ import annotations

from io import StringIO
from typing import Final

from django.core.management import call_command

from annotation.builds.results.publication import PublishRefused, Wish, publish_benchmark
from annotation.models import Build
from retrieval.models import Benchmark, Pool, Run

SYSTEMS: Final = ("bm25", "bow", "bm25-fields")


def ensure_sample_benchmark(build: Build) -> Benchmark | None:
    """The benchmark of the build's labels, with its systems scored; None where there is nothing to publish.

    One that is there stays: what people have decided since is for them to publish.
    """
    name = f"{build.name}-benchmark"
    benchmark = Benchmark.objects.filter(name=name).order_by("-version").first()
    try:
        benchmark = benchmark or publish_benchmark(Wish(name, build.mining, build, Pool.COLLECTION))
    except PublishRefused:
        return None
    if not benchmark.positives:
        return benchmark
    scored = set(Run.objects.filter(benchmark=benchmark).values_list("system", flat=True))
    if missing := [system for system in SYSTEMS if system not in scored]:
        call_command("evaluate", str(benchmark), encoder=missing, stdout=StringIO(), stderr=StringIO())
    return benchmark
