"""A superset of the k best, whatever the format: proved bounds, tried on vectors that lie close together."""

from __future__ import annotations

from itertools import pairwise
from typing import get_args

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from retrieval.index import product, search
from retrieval.index.product import Floats, Format, Fp32, normalize_vectors
from retrieval.index.search import Joined, Kept, find_top_candidates

FORMATS: tuple[Format, ...] = get_args(Format)


def near(n: int, d: int, cosine: float, random: np.random.Generator, middle: Floats) -> Floats:
    """Vectors of length 1 whose mean cosine is about `cosine`."""
    rest = normalize_vectors(random.standard_normal((n, d), dtype=np.float32))
    return normalize_vectors(np.float32(cosine**0.5) * middle + np.float32((1 - cosine) ** 0.5) * rest)


def both(
    seed: int, cosine: float, queries: int = 20, snippets: int = 600, d: int = 48
) -> tuple[Floats, Floats]:
    random = np.random.default_rng(seed)
    middle = normalize_vectors(random.standard_normal((1, d), dtype=np.float32))
    return near(queries, d, cosine, random, middle), near(snippets, d, cosine, random, middle)


def exact(queries: Floats, snippets: Floats) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
    return queries.astype(np.float64) @ snippets.T.astype(np.float64)


@pytest.mark.parametrize("format_", FORMATS)
@given(
    seed=st.integers(0, 10_000), cosine=st.sampled_from([0.0, 0.5, 0.99, 0.9999]), block=st.integers(1, 700)
)
@settings(max_examples=15)
def test_none_of_the_k_best_is_lost(format_: Format, seed: int, cosine: float, block: int) -> None:
    queries, snippets = both(seed, cosine)
    snippets[300:] = snippets[:300] + np.float32(1e-4) * both(seed + 1, 0.0)[1][:300]  # near-ties
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(search, "SNIPPETS_A_BLOCK", block)
        patch.setattr(search, "QUERIES_A_PART", 7)
        found = find_top_candidates(queries, Joined([snippets[:, :30], snippets[:, 30:]]), 9, format_=format_)
    for row, kept in zip(exact(queries, snippets), found, strict=True):
        assert kept is not None
        assert set(np.argsort(-row, kind="stable")[:9]) <= set(kept.tolist())
        assert all(a < b for a, b in pairwise(kept.tolist()))


@given(seed=st.integers(0, 10_000), cosine=st.sampled_from([0.0, 0.99]), more=st.integers(0, 3))
@settings(max_examples=10)
def test_queries_of_which_faiss_told_too_few_are_searched_again(seed: int, cosine: float, more: int) -> None:
    queries, snippets = both(seed, cosine)
    snippets[300:] = snippets[:300]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(search, "MORE_THAN_K", more)
        found = find_top_candidates(queries, Joined([snippets]), 9, format_="fp32")
    for row, kept in zip(exact(queries, snippets), found, strict=True):
        assert kept is not None
        assert set(np.argsort(-row, kind="stable")[:9]) <= set(kept.tolist())


def test_one_pass_of_faiss_is_enough_for_ordinary_vectors(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object, **__: object) -> None:
        raise AssertionError("searched again")

    monkeypatch.setattr(search, "scan_by_product", refused)
    for cosine in (0.0, 0.99):
        queries, snippets = both(8, cosine, queries=100, snippets=5000, d=256)
        found = find_top_candidates(queries, Joined([snippets]), 20, format_="fp32")
        assert max(len(kept) for kept in found if kept is not None) < 30


@pytest.mark.parametrize("format_", FORMATS)
@given(seed=st.integers(0, 10_000), cosine=st.sampled_from([0.0, 0.99]), size=st.floats(1e-3, 1e3))
@settings(max_examples=15)
def test_scores_lie_within_the_proved_bound(format_: Format, seed: int, cosine: float, size: float) -> None:
    queries, snippets = both(seed, cosine)
    queries, centre = queries * np.float32(size), snippets.mean(axis=0)
    by = product.build_query_product(queries, format_)
    by.load(snippets - centre)
    table, bound = by.table(slice(None)), by.errors()
    found = table.above(np.full(len(queries), -np.inf, dtype=np.float32))
    truth = exact(queries, snippets) - queries.astype(np.float64) @ centre.astype(np.float64)[:, None]
    off = np.abs(found.scores - truth[found.rows, found.columns])
    assert len(off) == truth.size
    assert (off <= bound[found.rows] + 1.01 * by.rounding * np.abs(found.scores)).all()


@pytest.mark.parametrize("format_", FORMATS)
def test_centred_vectors_leave_few_candidates(format_: Format) -> None:
    """Where all cosines are near 0.99, a bound for whole vectors would leave all 5,000."""
    queries, snippets = both(3, 0.99, snippets=5000, d=256)
    found = find_top_candidates(queries, Joined([snippets]), 20, format_=format_)
    assert max(len(kept) for kept in found if kept is not None) < 500


def test_what_is_surely_below_is_left_out() -> None:
    queries, snippets = both(4, 0.0)
    best = exact(queries, snippets).max(axis=1)
    found = find_top_candidates(queries, Joined([snippets]), 1, least=best + 1e-3)
    assert [len(kept) for kept in found if kept is not None] == [0] * len(queries)


def test_the_bound_of_bfloat16_is_what_was_lost_and_no_more() -> None:
    """Ones and halves lose nothing in 8 bits; thirds do, and the bound says so."""
    queries = np.random.default_rng(1).choice(np.array([-1, -0.5, 0.5, 1], np.float32), (20, 64))
    by = product.Bf16(np.vstack([queries, -queries]))
    by.load(queries)
    kept = by.errors()
    by.load((queries / 3).astype(np.float32))
    assert kept.max() < 1e-2 < by.errors().min() < product.BF16_UNIT * 64


def test_too_many_equal_scores_are_the_callers() -> None:
    snippets = np.repeat(both(5, 0.0)[1][:1], 3000, axis=0)
    for format_ in FORMATS:
        assert find_top_candidates(snippets[:2], Joined([snippets]), 3, format_=format_) == [None, None]


def test_rising_scores_keep_few() -> None:
    """Each block is better than all before: what is kept is cut again and again."""
    scores = np.linspace(0, 1, 4000, dtype=np.float32)[:, None]
    by, kept = Fp32(np.ones((1, 1), np.float32)), Kept(5, np.full(1, -np.inf), 0.0)
    for start in range(0, 4000, 500):
        by.load(scores[start : start + 500])
        kept.take(by.table(slice(None)), by.errors().astype(np.float64), start)
        assert len(kept.rows) < 1100
    assert [one.tolist() for one in kept.by_query() if one is not None] == [list(range(3995, 4000))]


def test_a_format_is_timed_for_much_work_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(product, "find_faster_format", lambda dimension: "bf16")
    assert product.choose_product_format(10, 1000, 1792) == "fp32"
    assert product.choose_product_format(20_604, 653_994, 1792) == "bf16"


def test_without_torch_all_is_float32(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert product.choose_product_format(20_604, 653_994, 1792) == "fp32"


def test_a_processor_that_sums_otherwise_is_noticed() -> None:
    queries, snippets = both(6, 0.0)
    by = product.Bf16(queries)
    by.load(snippets)
    assert product.errs_as_proved(by, queries, snippets)
    assert not product.errs_as_proved(by, queries * np.float32(1.1), snippets)
