"""Corpus statistics of a build, a benchmark and a collection: sections of tables, kept until these change."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, TypeAlias

from django.core.cache import cache
from django.db.models import Count, Min, Q, QuerySet

from annotation.models import Build, Case
from annotation.pages import corpus_tables as tables
from annotation.pages.corpus_ranks import paid_by, paid_for
from annotation.pages.corpus_ranks import ranks as by_ranks
from annotation.pages.corpus_tables import Section, Size
from annotation.pages.distribution import Spread
from annotation.pages.distribution import count as spread_of
from annotation.pages.figures import percent, test_cases
from annotation.pages.study_figures import TableView, view
from annotation.releasing import published_from
from annotation.stages import Stage
from retrieval import filtering
from retrieval.corpus import SAMPLED, languages, overlap, ranks
from retrieval.corpus.lengths import Lengths, characters, texts_in, tokens
from retrieval.corpus.ranks import AtRank, Counted, by_rank
from retrieval.evaluation.content import NoSuchBenchmark, named, query_members, snippet_members
from retrieval.mining import alone
from retrieval.models import Benchmark, BenchmarkLabel, Collection, Text

Of: TypeAlias = Build | Benchmark | Collection
"""What statistics are of."""

KEPT_SECONDS: Final = 3600
WORDS_A_CLASS: Final = 2
FILTERED: Final = 500
"""Snippets that a page shows to all filters: each takes two parsers a millisecond or two."""
OF_MINING: Final = (
    f"Of the best snippets that each encoder finds by itself, as many a query as the mining keeps, for "
    f"{alone.SAMPLED_QUERIES} queries drawn by seed {alone.SEED}."
)
OF_RUNS: Final = "Of the first 20 results of each system’s newest run that searched what the benchmark says."


@dataclass(frozen=True, slots=True)
class SectionView:
    """A section as the page shows it."""

    table: TableView
    section: Section


@dataclass(frozen=True, slots=True)
class CorpusPage:
    """`title` is what the statistics are of, `kind` what that is, `back` the address of its own page.

    `moving`: it is still worked on, so that its counts are soon behind. `pin`: the address to pin them at.
    """

    title: str
    kind: str
    back: str
    sections: tuple[SectionView, ...]
    moving: bool = False
    pin: str = ""


def views_of(sections: tuple[Section, ...]) -> tuple[SectionView, ...]:
    return tuple(SectionView(view(one.table), one) for one in sections)


def kept(key: str, count: Callable[[], tuple[Section, ...]]) -> tuple[Section, ...]:
    """What `count` returns, or returned for the same key during the last hour."""
    found: tuple[Section, ...] | None = cache.get(key)
    if found is None:
        found = count()
        cache.set(key, found, KEPT_SECONDS)
    return found


class NoSuchCorpus(LookupError):
    """There is nothing of this name; the message says so."""


def called(of: str, name: str, kind: str) -> Of:
    """The build, the benchmark, also NAME@VERSION, or the newest collection of `kind`.

    Raises NoSuchCorpus.
    """
    found: Of | None
    if of == "build":
        found = Build.objects.filter(name=name).select_related("mining", "tally").first()
    elif of == "benchmark":
        try:
            found = named(name)
        except NoSuchBenchmark as why:
            raise NoSuchCorpus(str(why)) from why
    elif of == "collection":
        found = Collection.objects.filter(name=name, kind=kind).order_by("-version").first()
    else:
        raise NoSuchCorpus(f"Statistics are of a build, a benchmark or a collection, not of {of!r}.")
    if found is None:
        hint = f" of {kind} called {name!r}; see --kind" if of == "collection" else f" called {name!r}"
        raise NoSuchCorpus(f"There is no {of}{hint}.")
    return found


def sections_of(what: Of, most: int | None = SAMPLED, last_run: int | None = None) -> tuple[Section, ...]:
    """The statistics counted now, of `most` texts and lists; None: of all. `last_run`: see benchmarks."""
    if isinstance(what, Build):
        return build_sections(what, most)
    if isinstance(what, Benchmark):
        return benchmark_sections(what, most, last_run)
    return collection_sections(what, most)


def of_build(build: Build) -> tuple[Section, ...]:
    """Of a build's cases in their first round, until one moves; while it works, until a hundredth did."""
    version = build.tally.version
    moment = f"{version}" if build.is_over else f"about.{version // max(1, build.tally.total // 100)}"
    key = f"corpus:build:{build.pk}.{build.created_at:%s%f}.{moment}"
    return kept(key, lambda: build_sections(build))


def of_benchmark(benchmark: Benchmark) -> tuple[Section, ...]:
    """A benchmark never changes, but runs are added, and the builds behind it may pay for more."""
    last = benchmark.runs.order_by("-pk").values_list("pk", flat=True).first()
    made, paid = f"{benchmark.pk}.{benchmark.published_at:%s%f}", paid_for(benchmark)
    key = f"corpus:benchmark:{made}.{last}.{paid.spent}.{paid.pairs}"
    return kept(key, lambda: benchmark_sections(benchmark))


def of_collection(collection: Collection) -> tuple[Section, ...]:
    """Of all members; collections only grow, so their size tells whether they changed."""
    key = f"corpus:collection:{collection.pk}.{collection.created_at:%s%f}.{collection.size}"
    return kept(key, lambda: collection_sections(collection))


def build_sections(build: Build, most: int | None = SAMPLED) -> tuple[Section, ...]:
    cases = Case.objects.filter(build=build, round=1).order_by()
    pairs, tally = cases.count(), build.tally
    if not pairs:
        return ()
    texts = Text.objects.filter(pk__in=cases.values("pair__snippet"))
    size, code = measured(texts, most)
    spread, judged = spread_of(build), cases.filter(stage=Stage.SETTLED).values("query")
    return (
        tables.sizes(
            build.name,
            Size(pairs, size.texts, size.mean, test_cases(tally)[0], percent(tally.ran, tally.programs)),
        ),
        tables.by_matches(all_queries(spread), spread.queries - judged.distinct().count()),
        tables.by_answered(spread.by_snippet),
        by_ranks(rank_rows(cases, spread.queries), paid_by([build])),
        *code,
        tables.overlaps(
            overlap.of_mining(build.mining) if build.mining else [],
            OF_MINING,
            "Its mining had one encoder, or its pairs were given or there before: nothing can overlap.",
        ),
    )


def all_queries(spread: Spread) -> Counter[int]:
    """Number of matches → queries, with those that have none."""
    counts = Counter(spread.by_query)
    counts[0] = spread.queries - counts.total()
    return counts


def rank_rows(cases: QuerySet[Case], queries: int) -> list[AtRank]:
    """Two statements."""
    rows = cases.values("rank").annotate(
        candidates=Count("pk"),
        judged=Count("pk", filter=Q(stage=Stage.SETTLED)),
        matches=Count("pk", filter=Q(label=1)),
    )
    first = cases.filter(label=1).values("query").annotate(first=Min("rank"))
    return by_rank((Counted(**row) for row in rows), Counter(first.values_list("first", flat=True)), queries)


def benchmark_sections(
    benchmark: Benchmark, most: int | None = SAMPLED, last_run: int | None = None
) -> tuple[Section, ...]:
    """`last_run`: of runs that came after this one nothing is told."""
    labels, build = BenchmarkLabel.objects.filter(benchmark=benchmark), published_from(benchmark)
    searched, code = measured(texts_in(snippet_members(benchmark)), most)
    judged = Text.objects.filter(pk__in=labels.values("pair__snippet"))
    size = characters(judged, tables.CHARACTERS_A_CLASS)  # the paper's Table 1 counts the code of its pairs
    answered = labels.filter(relevance__gt=0).values("pair__snippet").annotate(found=Count("pk"))
    asked = labels.values("pair__query").distinct().count()
    return (
        tables.sizes(
            f"{benchmark.name}, version {benchmark.version}",
            Size(benchmark.size, size.texts, size.mean, *programs_of(build)),
            f"Snippets are those of the pairs, as the paper counts them; {searched.texts:,} are searched.",
        ),
        tables.by_matches(Counter(benchmark.match_counts.tolist()), benchmark.queries_until - asked),
        tables.by_answered(Counter(answered.values_list("found", flat=True))),
        by_ranks(ranks.of_benchmark(benchmark), paid_for(benchmark)),
        *code,
        *words_of(texts_in(query_members(benchmark)), most),
        tables.relevance(languages.relevance(benchmark)),
        tables.overlaps(
            overlap.of_benchmark(benchmark, most, last_run),
            OF_RUNS,
            "With two runs of different systems their results are compared.",
        ),
    )


def programs_of(build: Build | None) -> tuple[str, str]:
    """Average test cases and executable rate of the build that it was published from; empty without one."""
    if build is None:
        return "", ""
    return test_cases(build.tally)[0], percent(build.tally.ran, build.tally.programs)


def collection_sections(collection: Collection, most: int | None = SAMPLED) -> tuple[Section, ...]:
    if not collection.size:
        return ()
    texts = texts_in(collection.members.all())
    if collection.kind == Collection.Kind.QUERIES:
        return (*words_of(texts, most), tables.query_filters(filtering.of_queries(collection)))
    sampled = collection.size if most is None else min(FILTERED, collection.size)
    return (
        tables.functions(languages.functions(collection)),
        *measured(texts, most)[1],
        tables.variants(filtering.variants(collection), collection.size),
        tables.filters(filtering.sample_of_snippets(collection, sampled), sampled, collection.size),
    )


def measured(texts: QuerySet[Text], most: int | None) -> tuple[Lengths, tuple[Section, Section]]:
    """How long code is: all of it in characters, and both histograms."""
    whole = characters(texts, tables.CHARACTERS_A_CLASS)
    some = tokens(texts, tables.TOKENS_A_CLASS, most)
    return whole, (
        tables.lengths("characters", "Code length in characters", whole, "characters", whole.texts),
        tables.lengths("tokens", "Code length in tokens", some, "tokens", whole.texts),
    )


def words_of(texts: QuerySet[Text], most: int | None) -> tuple[Section, ...]:
    """How long queries are."""
    found = tokens(texts, WORDS_A_CLASS, most)
    return (tables.lengths("query-tokens", "Query length in tokens", found, "tokens", texts.count()),)
