"""What of a benchmark a system learned when it was trained here."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from retrieval.encoders import Encoder
from retrieval.encoders.baselines import BaselineEncoder
from retrieval.encoders.learned_texts import count_learned, read_learned_texts
from retrieval.encoders.transformer import TransformerEncoder
from retrieval.evaluation.content import query_members, snippet_members
from retrieval.models import Benchmark
from retrieval.texts.plurals import count_noun


def describe_learned_texts(encoders: Sequence[Encoder], benchmark: Benchmark) -> Iterator[str]:
    """A note for each encoder that learned queries or functions of the benchmark.

    Raises `MissingWeights`.
    """
    for encoder in encoders:
        if not isinstance(encoder, TransformerEncoder | BaselineEncoder):
            continue
        try:
            learned = read_learned_texts(encoder.folder)
        except ValueError as why:
            yield f"{encoder.name}: what it learned can't be read ({why})"
            continue
        if not learned:
            continue
        members = query_members(benchmark), snippet_members(benchmark)
        queries, snippets = (
            count_learned(learned, rows.values_list("text__body", flat=True).iterator()) for rows in members
        )
        if queries or snippets:
            yield (
                f"{encoder.name}: it learned {count_noun(queries, 'query', 'queries')} and "
                f"{count_noun(snippets, 'function')} of {benchmark}, so its figures are too high"
            )
