"""A published benchmark in memory: what is asked, what is searched, what is known."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from retrieval.evaluation.aliases import OWN, load_id_labels
from retrieval.models import Benchmark, BenchmarkLabel, Candidate, Collection, Member, Pool
from retrieval.models.benchmarks import query_key
from retrieval.models.collections import MemberQuerySet

ROWS_A_READ = 2000
NAMED: Final = 20
"""Benchmarks that an error names."""


class NoSuchBenchmark(LookupError):
    """No benchmark has this name; the message lists those that there are."""


class NoCandidates(ValueError):
    """The benchmark has no mining whose candidates could be searched."""


@dataclass(frozen=True)
class Content:
    """Queries and snippets as ids of their texts; a snippet's place in its list is its position.

    Where the benchmark goes by ids, aliases follow the members: each is a query or a result of its own, with
    the number of its text in `query_texts` and `snippets`. A query goes by its `query_key`.
    `labels`: by query the relevance of each judged snippet, by its place.
    """

    benchmark: Benchmark
    queries: Sequence[int]
    query_texts: Sequence[int]
    snippets: Sequence[int]
    labels: Mapping[int, Mapping[int, float]]

    @cached_property
    def query_keys(self) -> Mapping[int, Sequence[int]]:
        """By text of a query that has aliases all that it is asked by, its own key first."""
        found: dict[int, list[int]] = {}
        for key, text in zip(self.queries, self.query_texts, strict=True):
            if key < 0:
                found.setdefault(text, [text]).append(key)
        return found

    @cached_property
    def snippet_places(self) -> Mapping[int, Sequence[int]]:
        """By the place of a snippet that has aliases the places of all its ids, its own first."""
        until = self.benchmark.snippets_until
        own = {text: place for place, text in enumerate(self.snippets[:until])}
        found: dict[int, list[int]] = {}
        for place, text in enumerate(self.snippets[until:], until):
            found.setdefault(own[text], [own[text]]).append(place)
        return found

    def text_of_query(self, key: int) -> int:
        """The id of a query's text."""
        return key if key > 0 else self.query_texts[self.benchmark.queries_until - key - 1]

    def texts_place(self, place: int) -> int:
        """The place of the member that has the text of what is at `place`."""
        return self._own_places.get(place, place)

    @cached_property
    def _own_places(self) -> Mapping[int, int]:
        return {place: own for own, places in self.snippet_places.items() for place in places}

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
        return "is none yet: import queries with labels and a code base ('cosqa import cosqa')"
    more = f" and {len(names) - NAMED:,} more" if len(names) > NAMED else ""
    return f"are {', '.join(names[:NAMED])}{more}"


def content_of(benchmark: Benchmark) -> Content:
    """Read a benchmark's ids and labels: about 100 bytes a member and a label."""
    queries, asked = _texts(query_members(benchmark)), alias_texts(benchmark.queries, benchmark.query_aliases)
    snippets = _texts(snippet_members(benchmark))
    copies = alias_texts(benchmark.snippets, benchmark.snippet_aliases)
    keys = [*queries, *(query_key(text, number) for number, text in enumerate(asked, 1))]
    labels = _labels(benchmark, snippets)
    return Content(benchmark, keys, [*queries, *asked], [*snippets, *copies], labels)


def query_keys(benchmark: Benchmark) -> list[int]:
    """What its queries go by, in their order: members, then aliases."""
    aliases = range(1, benchmark.query_aliases + 1)
    return [*_texts(query_members(benchmark)), *(query_key(0, number) for number in aliases)]


def count_judged_queries(benchmark: Benchmark) -> int:
    """How many of its queries have a label."""
    labels, of_ids = BenchmarkLabel.objects.filter(benchmark=benchmark), benchmark.id_labels.order_by()
    others = labels.exclude(pair__in=of_ids.values("pair")) if benchmark.goes_by_ids else labels
    if not benchmark.goes_by_ids:
        return others.values("pair__query").distinct().count()
    asked = set(of_ids.values_list("pair__query", "query_alias").distinct())
    return len(asked | {(query, OWN) for query in others.values_list("pair__query", flat=True)})


def alias_texts(collection: Collection, count: int) -> list[int]:
    """The texts of a collection's first aliases, in their order."""
    if not count:
        return []
    rows = collection.aliases.filter(number__lte=count).order_by("number")
    return list(rows.values_list("text_id", flat=True).iterator(ROWS_A_READ))


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
    members = content.snippets[: content.benchmark.snippets_until]
    place = {text: position for position, text in enumerate(members)}
    found: defaultdict[int, set[int]] = defaultdict(set)
    rows = Candidate.objects.filter(mining__in=minings).order_by()
    for query, snippet in rows.values_list("query_id", "pair__snippet_id").iterator(ROWS_A_READ):
        if snippet in place:
            found[query].update(content.snippet_places.get(place[snippet], [place[snippet]]))
    asked = zip(content.queries, content.query_texts, strict=True)
    return {query: sorted(found[text]) for query, text in asked}


def _texts(members: MemberQuerySet) -> list[int]:
    return list(members.values_list("text_id", flat=True))


def _labels(benchmark: Benchmark, snippets: Sequence[int]) -> dict[int, dict[int, float]]:
    place = {text: position for position, text in enumerate(snippets)}
    labels: defaultdict[int, dict[int, float]] = defaultdict(dict)
    by_ids = load_id_labels(benchmark) if benchmark.goes_by_ids else {}
    rows = BenchmarkLabel.objects.filter(benchmark=benchmark)
    columns = ("pair_id", "pair__query_id", "pair__snippet_id", "relevance")
    for pair, query, snippet, relevance in rows.values_list(*columns).iterator(ROWS_A_READ):
        for (asked, code), said in by_ids.get(pair, {(OWN, OWN): relevance}).items():
            at = len(snippets) + code - 1 if code else place[snippet]
            labels[query_key(query, asked)][at] = said
    return dict(labels)
