"""What lists of results have in common, two lists a query."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations


@dataclass(frozen=True, slots=True)
class Overlap:
    """Two lists a query: `shared` is the mean number of snippets that both have, `jaccard` the mean ratio.

    Of `queries` queries, whose lists have `depth` snippets at most.
    """

    first: str
    second: str
    queries: int
    depth: int
    shared: float
    jaccard: float


def compute_list_overlap(
    first: str, second: str, depth: int, lists: Sequence[tuple[set[int], set[int]]]
) -> Overlap | None:
    """Of pairs of sets, one a query; None without a query that either found something for."""
    some = [(one, other) for one, other in lists if one or other]
    if not some:
        return None
    shared = sum(len(one & other) for one, other in some) / len(some)
    jaccard = sum(len(one & other) / len(one | other) for one, other in some) / len(some)
    return Overlap(first, second, len(some), depth, shared, jaccard)


def compute_pairwise_overlaps(
    names: Sequence[str], depth: int, lists: Mapping[int, Mapping[str, set[int]]]
) -> list[Overlap]:
    """Every two of `names`; `lists` holds by query and name what was found."""
    made = (
        compute_list_overlap(
            one, other, depth, [(found.get(one, set()), found.get(other, set())) for found in lists.values()]
        )
        for one, other in combinations(names, 2)
    )
    return [one for one in made if one is not None]
