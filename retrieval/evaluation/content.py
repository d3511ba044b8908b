"""A published benchmark in memory: what is asked, what is searched, what is known."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from retrieval.models import Benchmark, BenchmarkLabel, Candidate, Member, Pool
from retrieval.models.collections import MemberQuerySet

ROWS_A_READ = 2000
NAMED: Final = 20
"""Benchmarks that an error names."""


class NoSuchBenchmark(LookupError):
    """No benchmark has this name; the message lists those that there are."""


class NoCandidates(ValueError):
    """The benchmark has no mining whose candidates could be searched."""


@dataclass(frozen=True, slots=True)
class Content:
    """Queries and snippets as ids of their texts; a snippet's place in its list is its position.

    `labels`: by query the relevance of each judged snippet, by its position.
    """

    benchmark: Benchmark
    queries: Sequence[int]
    snippets: Sequence[int]
    labels: Mapping[int, Mapping[int, float]]

    def judged(self, query: int) -> Mapping[int, float]:
        return self.labels.get(query, {})


def find_named_benchmark(name: str) -> Benchmark:
    """The newest benchmark called `name`, or with `name@2` that version. Raises `NoSuchBenchmark`."""
    found = Benchmark.objects.newest(name)
    plain, _, version = name.rpartition("@")
    if found is None and plain and version.isascii() and version.isdigit() and len(version) < 10:
        found = Benchmark.objects.filter(name=plain, version=int(version)).first()
    if found is None:
        newest = Benchmark.objects.newest(plain)
        known = f"the newest is {newest}" if newest else f"there {_known()}"
        raise NoSuchBenchmark(f"There is no benchmark {name!r}; {known}.")
    return found


def _known() -> str:
    names = list(Benchmark.objects.order_by("name").values_list("name", flat=True).distinct())
    if not names:
        return "is none yet: import queries with labels and a code base ('manage.py import cosqa')"
    more = f" and {len(names) - NAMED:,} more" if len(names) > NAMED else ""
    return f"are {', '.join(names[:NAMED])}{more}"


def content_of(benchmark: Benchmark) -> Content:
    """Read a benchmark's ids and labels: about 100 bytes a member and a label."""
    queries = _texts(query_members(benchmark))
    snippets = _texts(snippet_members(benchmark))
    return Content(benchmark, queries, snippets, _labels(benchmark, snippets))


def query_members(benchmark: Benchmark) -> MemberQuerySet:
    """The members of its queries, by position."""
    rows = Member.objects.filter(collection=benchmark.queries_id, position__lt=benchmark.queries_until)
    return rows.order_by("position")


def snippet_members(benchmark: Benchmark) -> MemberQuerySet:
    """The members of its snippets, by position."""
    rows = Member.objects.filter(collection=benchmark.snippets_id, position__lt=benchmark.snippets_until)
    return rows.order_by("position")


def pool_of(content: Content, pool: Pool) -> dict[int, list[int]] | None:
    """By query the positions of the snippets that are searched, ascending; None: the whole collection.

    They are the candidates of all minings, those of a build's extensions too. Raises `NoCandidates`.
    """
    if pool == Pool.COLLECTION:
        return None
    minings = content.benchmark.minings
    if not minings:
        raise NoCandidates(
            f"Benchmark {content.benchmark} was not made of a mining, so it has no candidates to search; "
            "leave --pool out."
        )
    place = {text: position for position, text in enumerate(content.snippets)}
    found: defaultdict[int, set[int]] = defaultdict(set)
    rows = Candidate.objects.filter(mining__in=minings).order_by()
    for query, snippet in rows.values_list("query_id", "pair__snippet_id").iterator(ROWS_A_READ):
        if snippet in place:
            found[query].add(place[snippet])
    return {query: sorted(found[query]) for query in content.queries}


def _texts(members: MemberQuerySet) -> list[int]:
    return list(members.values_list("text_id", flat=True))


def _labels(benchmark: Benchmark, snippets: Sequence[int]) -> dict[int, dict[int, float]]:
    place = {text: position for position, text in enumerate(snippets)}
    labels: defaultdict[int, dict[int, float]] = defaultdict(dict)
    rows = BenchmarkLabel.objects.filter(benchmark=benchmark)
    columns = ("pair__query_id", "pair__snippet_id", "relevance")
    for query, snippet, relevance in rows.values_list(*columns).iterator(ROWS_A_READ):
        labels[query][place[snippet]] = relevance
    return dict(labels)
