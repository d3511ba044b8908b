"""A list of given pairs and its candidates, stored together or not at all."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import islice
from typing import Final

from django.db import transaction

from retrieval.models import Candidate, Pair, PairList, statements
from retrieval.sources import Problem

ROWS_A_WRITE: Final = 2000
COLUMNS: Final = ("pair_list", "pair", "query", "rank", "score", "scores")


class NoPairs(ValueError):
    """There are no pairs to judge, or a file is not what was expected; the message says what to change.

    `problems` are the rows that can't be read.
    """

    def __init__(self, message: str, problems: Sequence[Problem] = ()) -> None:
        super().__init__(message)
        self.problems = tuple(problems)


@transaction.atomic
def store_pair_list(row: PairList, texts: Iterable[tuple[int, int]]) -> PairList:
    """Keep the list with its pairs of (query text id, snippet text id); of the same pair the first counts.

    Raises NoPairs where there is none.
    """
    row.save()
    ranks, seen, rest = Counter[int](), set[int](), iter(texts)
    while some := list(islice(rest, ROWS_A_WRITE)):
        pairs, rows = Pair.objects.keep_ids(some), []
        for query, snippet in some:
            pair = pairs[query, snippet]
            if pair not in seen:
                seen.add(pair)
                ranks[query] += 1
                rows.append((row.pk, pair, query, ranks[query], 0.0, "{}"))
        statements.insert_all(Candidate, COLUMNS, rows)
    if not seen:
        raise NoPairs(f"{row.name} has no pair of a query and a function.")
    row.size = len(seen)
    row.save(update_fields=["size"])
    return row
