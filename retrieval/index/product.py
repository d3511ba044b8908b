"""Inner products of many queries with a block of snippets, in float32 or bfloat16: how far can they be off?

Both work on snippets less a centre m: q·x = q·(x - m) + q·m, and the last term is one number for each query,
so ranks stay. Untrained encoders' vectors lie close together (cosines near 0.99); what tells them apart then
is as small as the rounding of whole vectors, but large beside the rounding of centred ones.

**The bound.** Let b = x - m, B the longest b's length in the block, u = 2^-24 float32's unit roundoff and
g = nu/(1 - nu) with n the number of terms. Summed in any order, a float32 inner product errs by at most
g·Σ|q||b| ≤ g·|q|·B (Higham, Accuracy and Stability of Numerical Algorithms, section 3.1). Query and b are
rounded a few times before: 8u·|q|·B covers that.

bfloat16 has 8 bits: a number errs by at most 2^-8 of itself. Queries are centred too, by c: q·b = a·b + c·b
with a = q - c. The number c·b of each snippet is added in three further columns, in three parts of 8 bits.
With A and b' rounded, |A·b' - a·b| ≤ |A - a|·B + |A|·L (Cauchy and Schwarz), where |A - a| and L, the longest
b' - b of the block, are measured: less than half of what 2^-8 of each number would be. Products of bfloat16
are exact in float32 and are summed there, which adds g·(|A| + 2|c|)·(B + L). The sum is rounded to bfloat16
once more: `rounding`, relative to what came out.
"""

from __future__ import annotations

import importlib.util
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from typing import TYPE_CHECKING, Literal, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from retrieval import nearest
from retrieval.threads import side_by_side

if TYPE_CHECKING:
    from torch import Tensor

Floats: TypeAlias = npt.NDArray[np.float32]
Indices: TypeAlias = npt.NDArray[np.int64]
Format: TypeAlias = Literal["fp32", "bf16"]

UNIT = 2.0**-24
BF16_UNIT = 2.0**-8
COLUMNS_OF_C = 3
SLACK = 1.02
"""Covers that norms are taken in float32, and products of two of the small terms."""

LEAST = 1e-11
"""Covers that exact scores are rounded to 12 decimals, and numbers too small for a format."""

SNIPPETS_A_PIECE = 128
"""Are rounded at a time: they and what is lost of them fit in a core's own cache."""

SAMPLE_QUERIES, SAMPLE_SNIPPETS, SAMPLE_BEST, SAMPLE_TIMES = 512, 4096, 32, 3
WORTH_TIMING = 4e11
"""Floating-point operations, some seconds' work: below, float32 is done before torch is loaded."""


@dataclass(frozen=True, slots=True)
class Found:
    """Entries of a table of scores: row and column of each, by row, and its score."""

    rows: Indices
    columns: Indices
    scores: Floats


class Table(Protocol):
    """Scores of some queries (rows) with the snippets of a block (columns)."""

    @property
    def columns(self) -> int:
        """How many snippets there are."""

    def maxima(self, groups: int) -> Floats:
        """The largest score of each of so many groups of columns, shape (queries, groups)."""

    def above(self, least: Floats) -> Found:
        """The entries not below their row's number of `least`, and perhaps some that are a little below."""


class Product(Protocol):
    """Scores q·(x - centre) of the queries that it was made for with one block of snippets after another."""

    rounding: float

    def load(self, block: Floats) -> None:
        """Take up centred snippets, shape (s, d); the array may be written over."""

    def table(self, part: slice) -> Table:
        """Scores of a part of the queries with the block; the last table is written over."""

    def errors(self) -> Floats:
        """For each query, how far a score with this block can be off, before it is rounded to the result."""


def build_query_product(queries: Floats, format_: Format) -> Product:
    """The product of `queries`, shape (q, d), in one of the formats."""
    return Fp32(queries) if format_ == "fp32" else Bf16(queries)


def summation_error_bound(terms: int) -> float:
    """The largest relative error of a float32 sum of so many products."""
    return terms * UNIT / (1 - terms * UNIT)


class Fp32:
    """By NumPy's matrix product."""

    rounding = 0.0

    def __init__(self, queries: Floats) -> None:
        self.queries = queries
        self.lengths = np.linalg.norm(queries, axis=1)
        self.out = np.empty(0, dtype=np.float32)

    def load(self, block: Floats) -> None:
        self.block = block
        self.longest = longest_vector_length(block)

    def table(self, part: slice) -> Fp32Table:
        queries = self.queries[part]
        size = len(queries) * len(self.block)
        if self.out.size < size:
            self.out = np.empty(size, dtype=np.float32)
        out = self.out[:size].reshape(len(queries), len(self.block))
        return Fp32Table(np.matmul(queries, self.block.T, out=out))

    def errors(self) -> Floats:
        return errors_fp32(self.lengths, self.longest, self.queries.shape[1])


def errors_fp32(lengths: Floats, longest: float, terms: int) -> Floats:
    """How far float32 sums can be off: of queries so long with snippets of which the longest is so long."""
    share = summation_error_bound(terms) + 8 * UNIT
    return np.asarray(SLACK * share * longest * lengths + LEAST, dtype=np.float32)


@dataclass(frozen=True, slots=True)
class Fp32Table:
    """Scores in float32, shape (queries, snippets)."""

    scores: Floats

    @property
    def columns(self) -> int:
        return int(self.scores.shape[1])

    def maxima(self, groups: int) -> Floats:
        whole = self.columns // groups * groups
        found: Floats = self.scores[:, :whole].reshape(len(self.scores), -1, groups).max(axis=1)
        return found

    def above(self, least: Floats) -> Found:
        places = np.flatnonzero(self.scores >= least[:, None])
        return Found(*np.divmod(places, self.columns), self.scores.ravel()[places])


class Bf16:
    """By torch's matrix product of bfloat16 with sums in float32."""

    rounding = BF16_UNIT

    def __init__(self, queries: Floats) -> None:
        import torch

        centre = queries.mean(axis=0)
        centred = torch.from_numpy(queries - centre)
        self.centre = torch.from_numpy(centre)
        self.queries = torch.ones(len(queries), queries.shape[1] + COLUMNS_OF_C, dtype=torch.bfloat16)
        self.queries[:, : queries.shape[1]] = centred
        rounded = self.queries[:, : queries.shape[1]].float()
        self.lengths = _norms(rounded)
        self.share = self._share(queries, centred, rounded)
        self.out = torch.empty(0, dtype=torch.bfloat16)
        self.block = torch.empty(0, self.queries.shape[1], dtype=torch.bfloat16)

    def _share(self, queries: Floats, centred: Tensor, rounded: Tensor) -> Floats:
        """What a score can be off as a share of the longest snippet, but for the snippets' own rounding."""
        lost = _norms(rounded - centred)
        centre, whole = float(self.centre.norm()), np.linalg.norm(queries, axis=1)
        summed = summation_error_bound(self.queries.shape[1]) * (self.lengths + 2 * centre) + 8 * UNIT * (
            whole + centre
        )
        return np.asarray(SLACK * (lost + summed), dtype=np.float32)

    def load(self, block: Floats) -> None:
        import torch

        if len(self.block) < len(block):
            self.block = torch.empty(len(block), self.queries.shape[1], dtype=torch.bfloat16)
        self.snippets = self.block[: len(block)]
        starts = range(0, len(block), SNIPPETS_A_PIECE)
        ends = list(side_by_side(partial(self._round, torch.from_numpy(block)), starts, "cpu"))
        self.longest, self.lost = np.max(ends, axis=0, initial=0.0).tolist()

    def _round(self, block: Tensor, start: int) -> tuple[float, float]:
        """Take up a few snippets; the length of the longest, and the most that rounding lost of one."""
        piece, dimension = slice(start, start + SNIPPETS_A_PIECE), block.shape[1]
        exact, rounded = block[piece], self.snippets[piece]
        rounded[:, :dimension] = exact
        rest = exact @ self.centre
        for column in range(dimension, dimension + COLUMNS_OF_C):
            rounded[:, column] = rest
            rest = rest - rounded[:, column]
        off = rounded[:, :dimension].float().sub_(exact)
        return float(_norms(exact).max()), float(_norms(off).max())

    def table(self, part: slice) -> Bf16Table:
        import torch

        queries = self.queries[part]
        size = len(queries) * len(self.snippets)
        if self.out.numel() < size:
            self.out = torch.empty(size, dtype=torch.bfloat16)
        out = self.out[:size].view(len(queries), len(self.snippets))
        return Bf16Table(torch.mm(queries, self.snippets.T, out=out))

    def errors(self) -> Floats:
        off = self.share * (self.longest + self.lost) + SLACK * self.lengths * self.lost
        return np.asarray(off + LEAST, dtype=np.float32)


@dataclass(frozen=True, slots=True)
class Bf16Table:
    """Scores in bfloat16, shape (queries, snippets)."""

    scores: Tensor

    @property
    def columns(self) -> int:
        return int(self.scores.shape[1])

    def maxima(self, groups: int) -> Floats:
        whole = self.columns // groups * groups
        grouped = self.scores[:, :whole].reshape(len(self.scores), -1, groups)
        return np.asarray(grouped.amax(dim=1).float().numpy())

    def above(self, least: Floats) -> Found:
        import torch

        below = torch.from_numpy(least - np.abs(least) * np.float32(2 * BF16_UNIT)).bfloat16()
        places = np.flatnonzero((self.scores >= below[:, None]).numpy())
        scores = self.scores.view(-1)[torch.from_numpy(places)].float().numpy()
        return Found(*np.divmod(places, self.columns), scores)


def longest_vector_length(vectors: Floats) -> float:
    """The largest Euclidean length, 0 of none."""
    return float(np.sqrt(np.vecdot(vectors, vectors).max(initial=0.0)))


def _norms(vectors: Tensor) -> Floats:
    return np.asarray(vectors.norm(dim=1).numpy(), dtype=np.float32)


def choose_product_format(queries: int, snippets: int, dimension: int) -> Format:
    """The faster format for so much work on this machine; both lead to the same ranks."""
    if 2.0 * queries * snippets * dimension < WORTH_TIMING or importlib.util.find_spec("torch") is None:
        return "fp32"
    return find_faster_format(dimension)


@cache
def find_faster_format(dimension: int) -> Format:
    """The format in which a sample is searched in less time; bfloat16 only if it errs as proved."""
    random = np.random.default_rng(7)
    queries = normalize_vectors(random.standard_normal((SAMPLE_QUERIES, dimension), dtype=np.float32))
    snippets = normalize_vectors(random.standard_normal((SAMPLE_SNIPPETS, dimension), dtype=np.float32))
    tried = Bf16(queries)
    tried.load(snippets)
    if not errs_as_proved(tried, queries, snippets):
        return "fp32"
    high = np.ones(SAMPLE_QUERIES, dtype=np.float32)
    plain = _seconds(partial(nearest.find_largest_products, queries, snippets, SAMPLE_BEST))
    return "bf16" if _seconds(partial(_filtered, tried, high)) < plain else "fp32"


def _filtered(by: Product, least: Floats) -> Found:
    return by.table(slice(None)).above(least)


def errs_as_proved(tried: Product, queries: Floats, snippets: Floats) -> bool:
    """Whether the scores of a loaded block lie within the bound; a processor might sum otherwise."""
    found = tried.table(slice(None)).above(np.full(len(queries), -9, dtype=np.float32))
    exact = (queries.astype(np.float64) @ snippets.T.astype(np.float64))[found.rows, found.columns]
    bound = tried.errors()[found.rows] + 1.01 * tried.rounding * np.abs(found.scores)
    return bool((np.abs(found.scores - exact) <= bound).all())


def normalize_vectors(vectors: Floats) -> Floats:
    """The vectors scaled to length 1, in place."""
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors


def _seconds(work: Callable[[], object]) -> float:
    times = []
    for _ in range(SAMPLE_TIMES):
        started = time.perf_counter()
        work()
        times.append(time.perf_counter() - started)
    return min(times)
