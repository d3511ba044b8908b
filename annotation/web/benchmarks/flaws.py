"""What is known to be wrong in a benchmark that was published before a fault was mended: publish it again.

A published benchmark is never changed, so that what was cited stays; its next version is another one.
"""

from __future__ import annotations

from django.db.models import Exists, OuterRef

from annotation.builds.results.publication import published_from
from annotation.models import Build, Extension
from retrieval.models import Benchmark, BenchmarkLabel, Candidate, Member, Mining


def flaws_of(benchmark: Benchmark) -> list[tuple[str, Build | None]]:
    """What is wrong, in words, with the build to publish again (None: not known which)."""
    if benchmark.mining is None:
        return []
    build = published_from(benchmark)
    found = []
    if lacks_queries(benchmark, benchmark.mining):
        found.append("Labels are missing: a rule chose the queries, and the last ones were left out.")
    if build is not None and lacks_minings(benchmark, benchmark.mining, build):
        found.append(
            "Of what the build’s extensions found, the judged pairs alone are known: shares of judged "
            "functions are too high."
        )
    return [(words, build) for words in found]


def lacks_queries(benchmark: Benchmark, mining: Mining) -> bool:
    """Whether queries that the rule of its mining chose lie beyond the benchmark's end."""
    if not mining.query_rule or benchmark.queries_id != mining.queries_id:
        return False
    mined = Candidate.objects.filter(mining=mining, query=OuterRef("text"))
    beyond = Member.objects.filter(collection=mining.queries_id, position__gte=benchmark.queries_until)
    return beyond.filter(Exists(mined)).exists()


def lacks_minings(benchmark: Benchmark, mining: Mining, build: Build) -> bool:
    """Whether it has labels of what extensions found, and does not know their minings."""
    opened = Extension.objects.filter(build=build, state=Extension.State.OPENED)
    before = opened.filter(mining__finished_at__lt=benchmark.published_at).values("mining")
    missing = list(
        Mining.objects.filter(pk__in=before).exclude(pk__in=benchmark.extension_minings.values("pk"))
    )
    if not missing:
        return False
    labelled = BenchmarkLabel.objects.filter(benchmark=benchmark, pair=OuterRef("pair"))
    first = Candidate.objects.filter(mining=mining, pair=OuterRef("pair"))
    found = Candidate.objects.filter(Exists(labelled), mining__in=missing)
    return found.exclude(Exists(first)).exists()
