"""The snippets that could be among a query's k best: a superset, found in blocks of memory-mapped vectors.

Every score comes with a lower and an upper bound (`index.product` proves how far it can be off). Whatever
is among the k best has an upper bound not below the k-th largest lower bound of all snippets: keeping these
loses nothing, whatever the format.

In float32, faiss tells a few more than the k best scores of each query. Nothing that it left out beats the
last of these: if that one is surely worse than the k-th, all that could be among the k best is there. The few
queries of which this can't be said, and those for which bfloat16 can't tell enough snippets apart, are
searched again by our own product in float32, which keeps as many as it takes; what that can't tell apart is
left to the caller.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from retrieval import nearest
from retrieval.index.product import (
    Floats,
    Format,
    Found,
    Indices,
    Product,
    Table,
    build_query_product,
    choose_product_format,
    errors_fp32,
    longest_vector_length,
)
from retrieval.threads import spread_over_cores

Doubles: TypeAlias = npt.NDArray[np.float64]
Scanned: TypeAlias = Callable[[int, int], None]
"""Called with (snippets searched, all of them)."""

SNIPPETS_A_BLOCK = 16_384
SNIPPETS_A_PIECE = 512
QUERIES_A_PART = 1_024
SAMPLED_FOR_CENTRE: Final = 2_048
GROUPS: Final = 1_024
"""The k-th largest of so many groups' maxima is a first bound of the k-th largest score."""

MORE_THAN_K = 12
"""So many scores beyond the k-th are asked of faiss: with fewer, more queries have to be searched again."""

TOO_MANY_A_QUERY: Final = 512
"""If a query has more entries of one block than this, all are filtered again by the block's own bound."""


class StoredRows(Protocol):
    """Vectors of shape (n, d) that are read in parts from somewhere slower than memory."""

    def __len__(self) -> int: ...

    def __getitem__(self, rows: slice | Indices) -> Floats: ...

    def runs(self, start: int, stop: int) -> Iterator[tuple[int, Floats]]:
        """The rows from `start` to `stop` in pieces, each with the number of its first row."""


Rows: TypeAlias = Floats | StoredRows


@dataclass(frozen=True, slots=True)
class Block:
    """Centred snippets, shape (s, d), the first of them number `start`, and the largest length."""

    start: int
    rows: Floats
    longest: float


@dataclass(frozen=True, slots=True)
class Joined:
    """Several encoders' rows side by side: one inner product is then the sum of theirs."""

    parts: Sequence[Rows]

    def __len__(self) -> int:
        return len(self.parts[0])

    def __getitem__(self, rows: slice | Indices) -> Floats:
        return np.hstack([part[rows] for part in self.parts])

    def centre(self) -> Floats:
        """Near the mean: that of an even sample, shape (d,)."""
        sample = np.unique(np.linspace(0, len(self) - 1, SAMPLED_FOR_CENTRE).astype(np.int64))
        return np.asarray(self[sample].mean(axis=0, dtype=np.float64), dtype=np.float32)

    def blocks(self, centre: Floats) -> Iterator[Block]:
        """The rows less `centre` in blocks; all in one buffer."""
        buffer = np.empty((min(SNIPPETS_A_BLOCK, len(self)), len(centre)), dtype=np.float32)
        for start in range(0, len(self), SNIPPETS_A_BLOCK):
            stop = min(start + SNIPPETS_A_BLOCK, len(self))
            fill = partial(self._fill, buffer, centre, start, stop)
            lengths = list(spread_over_cores(fill, range(start, stop, SNIPPETS_A_PIECE)))
            yield Block(start, buffer[: stop - start], max(lengths))

    def _fill(self, buffer: Floats, centre: Floats, start: int, stop: int, piece: int) -> float:
        """Read and centre the rows from `piece` on into a buffer that begins with row `start`.

        Returns the largest length: they are in the processor's cache now.
        """
        column, end = 0, min(piece + SNIPPETS_A_PIECE, stop)
        for part in self.parts:
            for first, rows in iterate_row_pieces(part, piece, end):
                columns = slice(column, column + rows.shape[1])
                out = buffer[first - start : first - start + len(rows), columns]
                np.subtract(rows, centre[columns], out=out)
            column = columns.stop
        return longest_vector_length(buffer[piece - start : end - start])


def iterate_row_pieces(rows: Rows, start: int, stop: int) -> Iterator[tuple[int, Floats]]:
    """The rows from `start` to `stop`, with as little copying as they lie."""
    if isinstance(rows, np.ndarray):
        yield start, rows[start:stop]
    else:
        yield from rows.runs(start, stop)


def find_top_candidates(
    queries: Floats,
    snippets: Joined,
    k: int,
    *,
    format_: Format | None = None,
    least: Doubles | None = None,
    scanned: Scanned | None = None,
) -> list[Indices | None]:
    """For each query the indices, ascending, of a superset of its k largest inner products with `snippets`.

    None where float32 can't tell more than some thousand snippets apart. `least`, shape (q,), leaves out what
    is surely below. `format_` is chosen for the machine unless given. Memory is a few blocks and the queries.
    """
    centre, k = snippets.centre(), min(k, len(snippets))
    chosen = format_ or choose_product_format(len(queries), len(snippets), queries.shape[1])
    floor = np.full(len(queries), -np.inf) if least is None else least - queries @ centre.astype(np.float64)
    first = search_by_faiss if chosen == "fp32" else partial(scan_by_product, format_=chosen)
    found = first(queries, floor, snippets, centre, k, scanned=scanned)
    crowded = [i for i, one in enumerate(found) if one is None]
    if crowded:
        again = scan_by_product(queries[crowded], floor[crowded], snippets, centre, k, scanned=scanned)
        for query, one in zip(crowded, again, strict=True):
            found[query] = one
    return found


def search_by_faiss(
    queries: Floats, floor: Doubles, snippets: Joined, centre: Floats, k: int, *, scanned: Scanned | None
) -> list[Indices | None]:
    """One pass by faiss; None for a query of which it did not tell enough."""
    lengths = np.linalg.norm(queries, axis=1)
    errors = np.zeros(len(queries))
    scores = np.empty((len(queries), 0), dtype=np.float32)
    indices = np.empty((len(queries), 0), dtype=np.int64)
    for block in snippets.blocks(centre):
        np.maximum(errors, errors_fp32(lengths, block.longest, queries.shape[1]), out=errors)
        found, places = nearest.find_largest_products(queries, block.rows, k + MORE_THAN_K)
        scores, indices = merge_top_scores(scores, indices, found, places + block.start, k + MORE_THAN_K)
        if scanned is not None:
            scanned(block.start + len(block.rows), len(snippets))
    return select_possible_best(scores, indices, errors, floor, k, len(snippets))


def merge_top_scores(
    scores: Floats, indices: Indices, found: Floats, places: Indices, count: int
) -> tuple[Floats, Indices]:
    """The `count` best of two lists of each query, in no order."""
    scores, indices = np.hstack([scores, found]), np.hstack([indices, places])
    if scores.shape[1] <= count:
        return scores, indices
    best = np.argpartition(-scores, count - 1, axis=1)[:, :count]
    return np.take_along_axis(scores, best, 1), np.take_along_axis(indices, best, 1)


def select_possible_best(
    scores: Floats, indices: Indices, errors: Doubles, floor: Doubles, k: int, snippets: int
) -> list[Indices | None]:
    """Of the best of each query those that could be among the k best; None where others could be as well."""
    ordered = np.sort(scores.astype(np.float64), axis=1)
    least = np.maximum(ordered[:, ordered.shape[1] - k] - errors, floor)
    complete = (ordered[:, 0] + errors < least) | (ordered.shape[1] == snippets)
    kept = scores + errors[:, None] >= least[:, None]
    return [
        np.sort(row[these]) if whole else None
        for row, these, whole in zip(indices, kept, complete, strict=True)
    ]


def scan_by_product(
    queries: Floats,
    floor: Doubles,
    snippets: Joined,
    centre: Floats,
    k: int,
    *,
    format_: Format = "fp32",
    scanned: Scanned | None = None,
) -> list[Indices | None]:
    """One pass by our own product; None for a query of which too many can't be told apart."""
    by: Product = build_query_product(queries, format_)
    parts = [slice(start, start + QUERIES_A_PART) for start in range(0, len(floor), QUERIES_A_PART)]
    kept = [Kept(k, floor[part].copy(), by.rounding) for part in parts]
    for block in snippets.blocks(centre):
        by.load(block.rows)
        errors = by.errors().astype(np.float64)
        for part, one in zip(parts, kept, strict=True):
            one.take(by.table(part), errors[part], block.start)
        if scanned is not None:
            scanned(block.start + len(block.rows), len(snippets))
    return [indices for one in kept for indices in one.by_query()]


class Kept:
    """What could be among the k best of some queries, of all blocks so far.

    `least`, shape (q,), is a lower bound of each query's k-th largest score; infinite for a crowded query.
    """

    def __init__(self, k: int, least: Doubles, rounding: float) -> None:
        self.k, self.least = k, least
        self.share = 1.01 * rounding
        self.most = 4 * k + 1024
        self.crowded = np.zeros(len(least), dtype=bool)
        self.rows = np.empty(0, dtype=np.int32)
        self.indices = np.empty(0, dtype=np.int64)
        self.lower, self.upper = np.empty(0), np.empty(0)
        self.settled = 0

    def take(self, table: Table, errors: Doubles, start: int) -> None:
        """Keep of a block, whose first snippet is number `start`, what could be among the k best."""
        found = self.without_crowds(self.entering(table, errors))
        off = self.share * np.abs(found.scores.astype(np.float64)) + errors[found.rows]
        self.rows = np.concatenate([self.rows, found.rows.astype(np.int32)])
        self.indices = np.concatenate([self.indices, found.columns + start])
        self.lower = np.concatenate([self.lower, found.scores - off])
        self.upper = np.concatenate([self.upper, found.scores + off])
        if len(self.rows) > 2 * self.settled:
            self.settle()

    def entering(self, table: Table, errors: Doubles) -> Found:
        if np.isneginf(self.least).any():
            self.raise_by(table, errors)
        found = table.above(self.threshold(errors))
        if np.bincount(found.rows, minlength=1).max() > TOO_MANY_A_QUERY:
            self.raise_by(table, errors)
            found = table.above(self.threshold(errors))
        return found

    def without_crowds(self, found: Found) -> Found:
        """Give up queries of which one block alone has too many."""
        crowds = np.bincount(found.rows, minlength=len(self.least)) > self.most
        if not crowds.any():
            return found
        self.give_up(crowds)
        these = ~crowds[found.rows]
        return Found(found.rows[these], found.columns[these], found.scores[these])

    def raise_by(self, table: Table, errors: Doubles) -> None:
        """Raise `least` by the block's k-th largest score, of which k groups' maxima are a bound."""
        if table.columns < self.k:
            return
        maxima = table.maxima(min(table.columns, max(GROUPS, 4 * self.k)))
        place = maxima.shape[1] - self.k
        kth = np.partition(maxima, place, axis=1)[:, place].astype(np.float64)
        self.least = np.maximum(self.least, kth - self.share * np.abs(kth) - errors)

    def threshold(self, errors: Doubles) -> Floats:
        """The scores whose upper bound is `least`, rounded down."""
        bare = self.least - errors
        score = np.where(bare >= 0, bare / (1 + self.share), bare / (1 - self.share))
        return np.nextafter(score.astype(np.float32), np.float32(-np.inf))

    def settle(self) -> None:
        """Raise `least` by what is kept, and keep only what it leaves; a query with too many is crowded."""
        order = np.argsort(self.rows, kind="stable")
        counts = np.bincount(self.rows, minlength=len(self.least))
        grid = np.full((len(counts), max(int(counts.max(initial=0)), self.k)), -np.inf)
        starts = np.cumsum(counts) - counts
        sorted_rows = self.rows[order]
        grid[sorted_rows, np.arange(len(order)) - starts[sorted_rows]] = self.lower[order]
        kth = np.partition(grid, grid.shape[1] - self.k, axis=1)[:, grid.shape[1] - self.k]
        self.least = np.maximum(self.least, kth)
        self.keep(self.upper >= self.least[self.rows])
        self.give_up(np.bincount(self.rows, minlength=len(self.least)) > self.most)
        self.settled = len(self.rows)

    def give_up(self, crowds: npt.NDArray[np.bool_]) -> None:
        self.crowded |= crowds
        self.least[self.crowded] = np.inf
        self.keep(~self.crowded[self.rows])

    def keep(self, these: npt.NDArray[np.bool_]) -> None:
        self.rows, self.indices = self.rows[these], self.indices[these]
        self.lower, self.upper = self.lower[these], self.upper[these]

    def by_query(self) -> list[Indices | None]:
        """Each query's indices, ascending; None for a crowded one."""
        self.settle()
        order = np.lexsort((self.indices, self.rows))
        ends = np.cumsum(np.bincount(self.rows, minlength=len(self.least)))
        found = np.split(self.indices[order], ends[:-1])
        return [None if crowd else one for one, crowd in zip(found, self.crowded, strict=True)]
