"""Corpus statistics of a build, a benchmark and a collection: sections of tables, kept until these change."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Final, TypeAlias, cast

from django.core.cache import cache
from django.db.models import Count, Min, Q, QuerySet

from annotation.builds.results.publication import published_from
from annotation.models import Build, Case
from annotation.stages import Stage
from annotation.web.builds.figures import test_cases
from annotation.web.corpus import tables
from annotation.web.corpus.distribution import count_match_spread
from annotation.web.corpus.ranks import build_rank_section, paid_by, paid_for
from annotation.web.corpus.tables import Section
from annotation.web.shared.words import format_percent
from retrieval.collections import filter_steps
from retrieval.corpus import SAMPLED, languages, overlap, ranks
from retrieval.corpus.lengths import Lengths, measure_character_lengths, measure_token_lengths, texts_in
from retrieval.corpus.ranks import AtRank, Counted, by_rank
from retrieval.evaluation.content import (
    NoSuchBenchmark,
    count_judged_queries,
    find_named_benchmark,
    query_members,
    snippet_members,
)
from retrieval.mining import alone
from retrieval.models import Benchmark, BenchmarkLabel, Collection, Text

Of: TypeAlias = Build | Benchmark | Collection
"""What statistics are of."""

KEPT_SECONDS: Final = 3600
WORDS_A_CLASS: Final = 2
FILTERED: Final = 500
"""Snippets that a page shows to all filters: each takes two parsers a millisecond or two."""
OF_MINING: Final = (
    f"For {alone.SAMPLED_QUERIES} queries drawn by seed {alone.SEED}: the best functions that each encoder "
    f"finds by itself, as many a query as the mining keeps."
)
OF_RUNS: Final = "Of the first 20 results of each system’s newest run that searched what the benchmark says."


def load_cached_sections(key: str, count: Callable[[], tuple[Section, ...]]) -> tuple[Section, ...]:
    """What `count` returns, or returned for the same key during the last hour."""
    return cast("tuple[Section, ...]", cache.get_or_set(key, count, KEPT_SECONDS))


class NoSuchCorpus(LookupError):
    """There is nothing of this name; the message says so."""


def find_corpus_subject(of: str, name: str, kind: str) -> Of:
    """The build, the benchmark, also NAME@VERSION, or the newest collection of `kind`.

    Raises NoSuchCorpus.
    """
    found: Of | None
    if of == "build":
        found = Build.objects.filter(name=name).select_related("mining", "tally").first()
    elif of == "benchmark":
        try:
            found = find_named_benchmark(name)
        except NoSuchBenchmark as why:
            raise NoSuchCorpus(str(why)) from why
    elif of == "collection":
        found = Collection.objects.filter(name=name, kind=kind).order_by("-version").first()
    else:
        raise NoSuchCorpus(f"Statistics are of a build, a benchmark or a collection, not of {of!r}.")
    if found is None:
        hint = (
            f" of {Collection.Kind(kind).noun} called {name!r}; see --kind"
            if of == "collection"
            else f" called {name!r}"
        )
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
    return load_cached_sections(key, lambda: build_sections(build))


def of_benchmark(benchmark: Benchmark) -> tuple[Section, ...]:
    """A benchmark never changes, but runs are added, and the builds behind it may pay for more."""
    last = benchmark.runs.order_by("-pk").values_list("pk", flat=True).first()
    made, paid = f"{benchmark.pk}.{benchmark.published_at:%s%f}", paid_for(benchmark)
    key = f"corpus:benchmark:{made}.{last}.{paid.spent}.{paid.pairs}"
    return load_cached_sections(key, lambda: benchmark_sections(benchmark))


def of_collection(collection: Collection) -> tuple[Section, ...]:
    """Of all members; collections only grow, so their size tells whether they changed."""
    key = f"corpus:collection:{collection.pk}.{collection.created_at:%s%f}.{collection.size}"
    return load_cached_sections(key, lambda: collection_sections(collection))


def build_sections(build: Build, most: int | None = SAMPLED) -> tuple[Section, ...]:
    cases = Case.objects.filter(build=build, round=1).order_by()
    pairs = cases.count()
    if not pairs:
        return ()
    texts = Text.objects.filter(pk__in=cases.values("pair__snippet"))
    size, code = measure_code_lengths(texts, most)
    # Pins keep these figures, so no later review may change them.
    spread, judged = count_match_spread(build, "label"), cases.filter(stage=Stage.SETTLED).values("query")
    return (
        tables.build_size_section((build.name, pairs, size.texts, size.mean, *programs_of(build))),
        tables.by_matches(spread.of_all_queries, spread.queries - judged.distinct().count()),
        tables.by_answered(spread.by_snippet),
        build_rank_section(rank_rows(cases, spread.queries), paid_by([build])),
        *code,
        tables.build_overlap_section(
            overlap.of_mining(build.mining) if build.mining else [],
            OF_MINING,
            "Its mining had one encoder, or its pairs were given: nothing can overlap.",
        ),
    )


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
    searched, code = measure_code_lengths(texts_in(snippet_members(benchmark)), most)
    judged = Text.objects.filter(pk__in=labels.values("pair__snippet"))
    size = measure_character_lengths(
        judged, tables.CHARACTERS_A_CLASS
    )  # the paper's Table 1 counts the code of its pairs
    answered = labels.filter(relevance__gt=0).values("pair__snippet").annotate(found=Count("pk"))
    asked = count_judged_queries(benchmark)
    programs = programs_of(build) if build else (None, None)
    return (
        tables.build_size_section(
            (
                f"{benchmark.name}, version {benchmark.version}",
                benchmark.size,
                size.texts,
                size.mean,
                *programs,
            ),
            f"Functions are those of the pairs, as the paper counts them; {searched.texts:,} are searched.",
        ),
        tables.by_matches(Counter(benchmark.match_counts.tolist()), benchmark.query_count - asked),
        tables.by_answered(Counter(answered.values_list("found", flat=True))),
        build_rank_section(ranks.of_benchmark(benchmark), paid_for(benchmark)),
        *code,
        *words_of(texts_in(query_members(benchmark)), most),
        tables.build_relevance_section(languages.count_relevance_labels(benchmark)),
        tables.build_overlap_section(
            overlap.of_benchmark(benchmark, most, last_run),
            OF_RUNS,
            "Upload runs of two systems to compare their results.",
        ),
    )


def programs_of(build: Build) -> tuple[str | None, str | None]:
    """Average test cases of a build's programs, and the executable share; None where it can't be said."""
    tally = build.tally
    return test_cases(tally)[0] or None, format_percent(tally.ran, tally.programs, "") or None


def collection_sections(collection: Collection, most: int | None = SAMPLED) -> tuple[Section, ...]:
    if not collection.size:
        return ()
    texts = texts_in(collection.members.all())
    if collection.kind == Collection.Kind.QUERIES:
        return (*words_of(texts, most), tables.query_filters(filter_steps.of_queries(collection)))
    sampled = collection.size if most is None else min(FILTERED, collection.size)
    return (
        tables.build_function_section(languages.count_language_functions(collection)),
        *measure_code_lengths(texts, most)[1],
        tables.build_variant_section(filter_steps.count_testable_variants(collection), collection.size),
        tables.build_filter_section(
            filter_steps.sample_of_snippets(collection, sampled), sampled, collection.size
        ),
    )


def measure_code_lengths(texts: QuerySet[Text], most: int | None) -> tuple[Lengths, tuple[Section, Section]]:
    """How long code is: all of it in characters, and both histograms."""
    whole = measure_character_lengths(texts, tables.CHARACTERS_A_CLASS)
    some = measure_token_lengths(texts, tables.TOKENS_A_CLASS, most)
    return whole, (
        tables.build_length_section(
            "characters", "Code length in characters", whole, "characters", whole.texts
        ),
        tables.build_length_section("tokens", "Code length in tokens", some, "tokens", whole.texts),
    )


def words_of(texts: QuerySet[Text], most: int | None) -> tuple[Section, ...]:
    """How long queries are."""
    found = measure_token_lengths(texts, WORDS_A_CLASS, most)
    return (
        tables.build_length_section("query-tokens", "Query length in tokens", found, "tokens", texts.count()),
    )
