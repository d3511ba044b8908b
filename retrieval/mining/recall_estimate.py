"""What share of the matches that came with the data a mining found: an estimate of what it misses."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from datetime import datetime
from typing import Any, Final

from retrieval.models import Annotator, Candidate, Label, Mining, Source

CUTS = (1, 5, 10, 20, 50, 100)
QUERIES_A_READ = 500
BY_MACHINE: Final = (Source.AGENT, Source.SIMILARITY)
"""Sources of imported labels that no person gave."""


def count_recovered_matches(
    mining: Mining, queries: Sequence[int], snippets: Collection[int], until: datetime | None = None
) -> dict[str, Any]:
    """Counts of human matches: pairs whose last label of the original data is not 0.

    Labels that a release says agents gave are no human's, though they came with data.

    `matches`: those of the mining's queries with a snippet that could be found; `outside`: those whose
    snippet the rule or the collection left out; `queries`: how many queries have one; `found`: by cut-off,
    how many are among so many candidates of their query. `queries` and `snippets` are ids of texts; labels
    that came after `until` are left out.
    """
    pool = set(snippets)
    outside, owners, ranks = 0, set[int](), list[int]()
    matches = 0
    for some in read_in_parts(mining, queries, until):
        for query, snippet, rank in some:
            if snippet not in pool:
                outside += 1
                continue
            matches += 1
            owners.add(query)
            ranks += [] if rank is None else [rank]
    cuts = sorted({cut for cut in CUTS if cut < mining.k} | {mining.k})
    found = {str(cut): sum(rank <= cut for rank in ranks) for cut in cuts}
    return {"matches": matches, "outside": outside, "queries": len(owners), "found": found}


def read_in_parts(
    mining: Mining, queries: Sequence[int], until: datetime | None
) -> Iterator[list[tuple[int, int, int | None]]]:
    """The matches of a few queries at a time: query, snippet, and the candidate's rank if it is one."""
    for start in range(0, len(queries), QUERIES_A_READ):
        some = queries[start : start + QUERIES_A_READ]
        pairs = dict[int, tuple[int, int]]()
        given = Label.objects.filter(annotator__kind=Annotator.Kind.ORIGINAL, pair__query_id__in=some)
        given = given.exclude(annotator__in=Annotator.objects.filter(config__given_by__in=BY_MACHINE))
        if until is not None:
            given = given.filter(created_at__lte=until)
        columns = ("pair_id", "pair__query_id", "pair__snippet_id", "value")
        for pair, query, snippet, value in given.order_by("pk").values_list(*columns):
            pairs.pop(pair, None)
            if value:
                pairs[pair] = query, snippet
        candidates = Candidate.objects.filter(mining=mining, query_id__in=some, pair_id__in=list(pairs))
        ranks = dict(candidates.order_by().values_list("pair_id", "rank"))
        yield [(*texts, ranks.get(pair)) for pair, texts in pairs.items()]
