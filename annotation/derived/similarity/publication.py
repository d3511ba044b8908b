"""A benchmark under the labels of code similarity alone, with a name of its own, so figures don't mix."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from annotation.derived.similarity.judge import (
    ROWS_A_READ,
    Judged,
    NotComparable,
    SimilarityChoice,
    list_pairs,
)
from retrieval.evaluation.content import content_of
from retrieval.evaluation.publication import Chosen, NothingToPublish, Order, publish_chosen
from retrieval.evaluation.runs.carried_runs import rescore_runs
from retrieval.models import Annotator, Benchmark, Label, Pool
from retrieval.texts.plurals import count_noun

ENDING: Final = "-similarity"
LONGEST_NAME: Final = 120
LONGEST_RULE: Final = 400


def similarity_name(benchmark: Benchmark) -> str:
    """What the benchmark under these labels is called."""
    return benchmark.name[: LONGEST_NAME - len(ENDING)] + ENDING


def refuse_benchmark(benchmark: Benchmark) -> None:
    """Raises NotComparable for a benchmark that can't be judged by similarity."""
    if benchmark.goes_by_ids:
        raise NotComparable(f"{benchmark} counts each id of a text by itself; similarity is one of texts.")
    judges = benchmark.labels.filter(label__annotator__kind=Annotator.Kind.SIMILARITY)
    if judges.exists():
        raise NotComparable(f"{benchmark} has the labels of code similarity: name the one it was made of.")


def publish_similarity_benchmark(benchmark: Benchmark, choice: SimilarityChoice, judged: Judged) -> Benchmark:
    """The benchmark with the judge's labels alone; the runs of `benchmark` are scored by them.

    The last one where nothing is new. Raises NotComparable where it could judge nothing.
    """
    refuse_benchmark(benchmark)
    order = Order(
        similarity_name(benchmark),
        benchmark.queries,
        benchmark.snippets,
        describe_rule(benchmark, choice, judged.annotator),
        mining=benchmark.mining,
        further=benchmark.minings[1:],
        searched=Pool(benchmark.pool),
        queries_until=benchmark.queries_until,
        snippets_until=benchmark.snippets_until,
        notes=describe_labels(judged),
    )
    try:
        made = publish_chosen(order, list(iterate_labels(benchmark, choice, judged.annotator)))
    except NothingToPublish as why:
        raise NotComparable(f"No pair could be judged: {describe_unjudged(judged)}.") from why
    rescore_runs(benchmark, made)
    return made


def iterate_labels(benchmark: Benchmark, choice: SimilarityChoice, annotator: Annotator) -> Iterator[Chosen]:
    """Yield the judge's labels of the pairs that it was asked about, without empty ones."""
    columns = ("pair__query", "pair__snippet", "pair", "value", "pk")
    labels = Label.objects.filter(annotator=annotator, value__isnull=False)
    asked = set(list_pairs(benchmark, content_of(benchmark), choice.depth))
    queries = sorted({query for query, _ in asked})
    for start in range(0, len(queries), ROWS_A_READ):
        rows = (
            labels.filter(pair__query__in=queries[start : start + ROWS_A_READ])
            .order_by("pair")
            .values_list(*columns)
        )
        for query, snippet, pair, value, label in rows:
            if (query, snippet) in asked:
                yield Chosen(query, snippet, pair, float(value or 0), label, "")


def describe_rule(benchmark: Benchmark, choice: SimilarityChoice, annotator: Annotator) -> str:
    """Describe whose labels count."""
    answers = f"an answer of {choice.answers}" if choice.answers else f"another match of {benchmark}"
    return (
        f"a function is a match where its similarity to {answers} is at least {choice.threshold:g} "
        f"(Aroma's features, {choice.language}; annotator version {annotator.version[:8]}); no person, no "
        "model and no test was asked"
    )[:LONGEST_RULE]


def describe_labels(judged: Judged) -> str:
    """What people must know of the labels, with all counts."""
    left_out = describe_unjudged(judged)
    return (
        f"Labels by code similarity alone: {count_noun(judged.labels[1], 'match', 'matches')} and "
        f"{count_noun(judged.labels[0], 'other function')}. Code that solves a task in another way counts as "
        "no match." + (f" Not judged: {left_out}." if left_out else "")
    )


def describe_unjudged(judged: Judged) -> str:
    """Describe how many pairs could not be judged, by reason."""
    return "; ".join(f"{reason}: {count:,}" for reason, count in sorted(judged.unjudged.items()))
