"""Exact top-k: against a plain full sort, over blocks, with ties, one and several encoders."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from retrieval.encoders import Doubles, Encoder, Floats, Kind, Progress, find_encoder
from retrieval.encoders.lexical import cells
from retrieval.encoders.lexical.terms import tokenize_text
from retrieval.fusion import Fusion
from retrieval.index import (
    Cosines,
    Hit,
    Options,
    Terms,
    encode_signals,
    fuse_signals,
    mine_best_snippets,
    search,
)
from retrieval.index.ties import text_key_of


@dataclass(frozen=True)
class Table:
    """A dense encoder that looks a text's vector up by its number."""

    vectors: Floats
    name: str = "table"

    @property
    def identity(self) -> str:
        return self.name

    @property
    def dimension(self) -> int:
        return int(self.vectors.shape[1])

    def encode(self, texts: Sequence[str], kind: Kind, progress: Progress | None = None) -> Floats:
        return self.vectors[[int(text.split()[-1]) for text in texts]]


def unit_vectors(n: int, d: int, seed: int) -> Floats:
    vectors = np.random.default_rng(seed).normal(size=(n, d))
    return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True), dtype=np.float32)


def texts(n: int) -> list[str]:
    return [f"text {i}" for i in range(n)]


def indices(hits: list[Hit]) -> list[int]:
    return [hit.index for hit in hits]


def full_sort(means: Doubles | Floats, k: int) -> list[list[int]]:
    return [np.argsort(-np.round(row, 12), kind="stable")[:k].tolist() for row in means]


@given(seed=st.integers(0, 10_000), k=st.integers(1, 40), block=st.integers(1, 30))
@settings(max_examples=25)
def test_the_mean_of_cosines_equals_a_full_sort(seed: int, k: int, block: int) -> None:
    one, two = Table(unit_vectors(30, 6, seed), "one"), Table(unit_vectors(30, 3, seed + 1), "two")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(search, "SNIPPETS_A_BLOCK", block)
        found = mine_best_snippets(texts(4), texts(30), [one, two], k)
    a, b = one.vectors.astype(np.float64), two.vectors.astype(np.float64)
    means = (a[:4] @ a.T + b[:4] @ b.T) / 2
    assert [indices(hits) for hits in found] == full_sort(means, k)


@pytest.mark.parametrize("memory_mb", [0, 1, 1024])
def test_lexical_and_dense_scores_meet_in_the_mean(memory_mb: int) -> None:
    table, words = Table(unit_vectors(20, 4, seed=3)), find_encoder("bow")
    snippets = [f"read the file number {i}" for i in range(20)]
    for hits in mine_best_snippets(["file 3", "number 7"], snippets, [table, words], 5, memory_mb=memory_mb):
        assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
        for hit in hits:
            assert hit.score == pytest.approx((hit.entering["table"] + hit.entering["bow"]) / 2, abs=1e-8)


def by_hash(snippets: list[str]) -> list[str]:
    return sorted(snippets, key=text_key_of)


ONES, WORDS = Table(np.ones((3_000, 1), np.float32)), find_encoder("bow")


@pytest.mark.parametrize("encoders", [[ONES], [WORDS], [ONES, WORDS]])
@pytest.mark.parametrize("count", [60, 3_000])
def test_equals_come_by_the_hash_of_their_text_in_whatever_order_they_came(
    encoders: list[Encoder], count: int
) -> None:
    """3,000 equals are more than float32 tells apart: a pass in float64 finds them."""
    snippets = [f"same words {'-' * i} 0" for i in range(count)]
    for some in (snippets, snippets[::-1]):
        found = [some[index] for index in indices(mine_best_snippets(["same 0"], some, encoders, 10)[0])]
        assert found == by_hash(snippets)[:10]


@given(st.permutations([f"{word} {n}" for word in ("alpha", "beta", "alpha beta") for n in range(5)]))
@settings(max_examples=25)
def test_the_order_of_an_import_changes_no_pair(snippets: list[str]) -> None:
    encoders = [find_encoder("bm25"), find_encoder("bow")]
    ordered = sorted(snippets)
    wanted, found = (
        [
            [(some[hit.index], hit.score) for hit in hits]
            for hits in mine_best_snippets(["alpha", "beta 3"], some, encoders, 4)
        ]
        for some in (ordered, snippets)
    )
    assert found == wanted


@pytest.mark.parametrize("fusion", Fusion)
@pytest.mark.parametrize("names", [["bm25"], ["bow"], ["bm25-fields"], ["bm25", "bow"]])
def test_terms_alone_find_only_what_shares_one(names: list[str], fusion: Fusion) -> None:
    snippets = ["alpha beta", "gamma", "delta alpha"]
    encoders = [find_encoder(name) for name in names]
    found = mine_best_snippets(["alpha", "nothing"], snippets, encoders, 3, fusion=fusion)
    assert [sorted(indices(hits)) for hits in found] == [[0, 2], []]


def test_no_shared_term_is_a_score_of_0_where_another_encoder_finds_the_pair() -> None:
    hits = mine_best_snippets(
        ["word 0"], ["alpha 1", "beta 2"], [Table(np.ones((3, 1), np.float32)), WORDS], 2
    )[0]
    assert [(hit.score, dict(hit.entering)) for hit in hits] == [(0.5, {"table": 1.0, "bow": 0.0})] * 2


def test_a_repeated_text_is_found_once() -> None:
    found = mine_best_snippets(
        ["alpha"], ["beta", " alpha\n", "alpha", "alpha beta"], [find_encoder("bow")], 4
    )[0]
    assert indices(found) == [1, 3]


def test_hits_tell_raw_and_entering_scores() -> None:
    hit = mine_best_snippets(["alpha"], ["alpha beta", "gamma delta"], [find_encoder("bm25")], 1)[0][0]
    assert hit.entering == {"bm25": 0.4}
    assert hit.raw["bm25"] == pytest.approx(0.4 * np.log(2))
    assert hit.score == 0.4


def test_empty_inputs_give_empty_lists() -> None:
    assert mine_best_snippets([], ["a"], [find_encoder("bow")], 3) == []
    assert mine_best_snippets(["a", "b"], [], [find_encoder("bow")], 3) == [[], []]


def test_k_may_exceed_the_collection() -> None:
    assert len(mine_best_snippets(["a"], ["a", "a b"], [find_encoder("bow")], 30)[0]) == 2


@pytest.mark.parametrize(
    ("encoders", "k", "message"),
    [
        ([find_encoder("bow")], 0, "at least 1, not 0"),
        ([], 1, "got none"),
        ([find_encoder("bow"), find_encoder("bow")], 1, "each once; got bow, bow"),
    ],
)
def test_a_mining_without_meaning_is_refused(encoders: list[Encoder], k: int, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        mine_best_snippets(["a"], ["a"], encoders, k)


def test_progress_ends_at_the_last_query() -> None:
    seen: list[tuple[str, int, int]] = []
    mine_best_snippets(["a", "b"], ["a"], [find_encoder("bow")], 1, progress=lambda *step: seen.append(step))
    assert seen == [("bow", 1, 1), ("search", 2, 2)]


@given(seed=st.integers(0, 10_000), k=st.integers(1, 9), lexical=st.booleans())
@settings(max_examples=25)
def test_maxabs_equals_the_authors_formula(seed: int, k: int, lexical: bool) -> None:
    """Each encoder's row by its largest absolute score, summed: `select_code.py`."""
    one, two = Table(unit_vectors(30, 6, seed), "one"), Table(unit_vectors(30, 3, seed + 1), "two")
    encoders: list[Encoder] = [one, two, *([find_encoder("bow")] if lexical else [])]
    snippets, queries = texts(30), texts(4)
    rows = [table.vectors[:4].astype(np.float64) @ table.vectors.T.astype(np.float64) for table in (one, two)]
    if lexical:
        plain = mine_best_snippets(queries, snippets, [find_encoder("bow")], 30)
        rows.append(np.array([by_index(hits, "bow") for hits in plain]))
    total = sum(np.round(row, 12) / np.abs(row).max(axis=1, keepdims=True) for row in rows)
    found = mine_best_snippets(queries, snippets, encoders, k, fusion=Fusion.MAXABS)
    assert [indices(hits) for hits in found] == full_sort(np.asarray(total) / len(rows), k)
    for hits, row in zip(found, np.asarray(total) / len(rows), strict=True):
        assert [hit.score for hit in hits] == pytest.approx([row[hit.index] for hit in hits], abs=1e-11)


def by_index(hits: list[Hit], name: str) -> list[float]:
    return [hit.raw[name] for hit in sorted(hits, key=lambda hit: hit.index)]


def test_maxabs_divides_by_the_largest_absolute_score_whatever_its_sign() -> None:
    """Cosines -1 and 0.6: the largest is 1, that of the opposite."""
    vectors = np.array([[1, 0], [-1, 0], [0.6, 0.8]], dtype=np.float32)
    signal = Cosines("one", vectors[:1], vectors[1:])
    hits = next(iter(fuse_signals([signal], 1, 2, 2, Options(Fusion.MAXABS))))
    assert [(hit.index, hit.score) for hit in hits] == [(1, pytest.approx(0.6, abs=1e-7)), (0, -1.0)]


def test_maxabs_of_nothing_is_zero() -> None:
    signal = Cosines("one", np.zeros((1, 2), np.float32), unit_vectors(3, 2, seed=1))
    hits = next(iter(fuse_signals([signal], 1, 3, 2, Options(Fusion.MAXABS))))
    assert [(hit.index, hit.score) for hit in hits] == [(0, 0.0), (1, 0.0)]


def test_what_float32_cannot_tell_apart_is_told_apart_in_float64() -> None:
    """5,000 snippets within 2e-7 of each other: too many to keep, so float64 decides."""
    snippets = np.tile(np.array([1, 0], np.float32), (5000, 1))
    snippets[4321] = [1.0000001, 0]
    signal = Cosines("one", np.array([[1, 0]], np.float32), snippets)
    for one in (Options(), Options(format_="bf16")):
        hits = next(iter(fuse_signals([signal], 1, 5000, 3, one)))
        assert indices(hits) == [4321, 0, 1]


@pytest.mark.parametrize(
    ("names", "times"),
    [
        (["bm25", "bow"], 1),
        (["bm25-fields", "bow", "bm25"], 1),
        (["bow"], 1),
        (["bow", "table", "bm25"], 2),
    ],
)
def test_encoders_of_terms_that_follow_each_other_split_the_texts_once(
    monkeypatch: pytest.MonkeyPatch, names: list[str], times: int
) -> None:
    code, table = texts(5), Table(unit_vectors(5, 4, 1))
    encoders = [table if name == "table" else find_encoder(name) for name in names]
    counted, apart = Counter[str](), [encode_signals(["text 3"], code, [one]) for one in encoders]

    def split(text: str) -> list[str]:
        counted[text] += 1
        return tokenize_text(text)

    monkeypatch.setattr(cells, "tokenize_text", split)
    found = encode_signals(["text 3"], code, encoders)
    assert [counted[text] for text in code] == [times] * len(code)
    for (alone,), among in zip(apart, found, strict=True):
        if isinstance(alone, Terms) and isinstance(among, Terms):
            assert (alone.index.scores(code).raw == among.index.scores(code).raw).all()
    counted.clear()
    encode_signals(["text 3"], code, [find_encoder("bow")])
    assert counted[code[0]] == 1, "nothing is kept for later"
