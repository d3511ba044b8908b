"""The pairs that a benchmark labels, as a list."""

from __future__ import annotations

from django.db import transaction

from retrieval.given_pairs.storage import store_pair_list
from retrieval.models import Benchmark, Collection, PairList


@transaction.atomic
def of_benchmark(benchmark: Benchmark) -> PairList:
    """The benchmark's labelled pairs; the list that is there already, also that of the file it came from."""
    # Whoever asks beside us waits here, and finds the list.
    Collection.objects.select_for_update().get(pk=benchmark.queries_id)
    found = PairList.objects.filter(benchmark=benchmark, size=benchmark.size).last()
    if found is not None:
        return found
    row = PairList(
        name=str(benchmark),
        queries=benchmark.queries,
        snippets=benchmark.snippets,
        benchmark=benchmark,
        digest=benchmark.digest,
    )
    columns = "pair__query_id", "pair__snippet_id"
    return store_pair_list(
        row, benchmark.labels.order_by("pair__query_id", "pk").values_list(*columns).iterator()
    )
