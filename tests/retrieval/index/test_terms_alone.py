"""A search by terms alone: against the table of all scores, whichever weights are looked at first."""

from __future__ import annotations

import random
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from retrieval.encoders import Doubles, find_encoder
from retrieval.encoders.base import LexicalEncoder
from retrieval.fusion import Fusion
from retrieval.index import Options, Terms, encode_distinct_snippets, terms_alone
from retrieval.index.second_pass import first_of_each
from retrieval.index.ties import rank_by_hash

NAMES = (["bm25"], ["bow"], ["bm25-fields"], ["bm25", "bow"])


def draw_texts(seed: int, count: int, words: int) -> list[str]:
    """Texts that differ, with words of which the first is the most frequent by far."""
    chance, known = random.Random(seed), [f"w{'abcdefghij'[n]}" for n in range(10)]
    weights = [1 / (1 + n) ** 1.5 for n in range(10)]
    texts = (" ".join(chance.choices(known, weights, k=chance.randint(1, words))) for _ in range(count))
    return list(dict.fromkeys(texts))


def lexical(names: Sequence[str]) -> list[LexicalEncoder]:
    found = [find_encoder(name) for name in names]
    return [one for one in found if isinstance(one, LexicalEncoder)]


def sort_whole_table(
    queries: list[str], snippets: list[str], names: Sequence[str], k: int, fusion: Fusion
) -> list[list[tuple[int, float]]]:
    """The k best by a full sort of every score, as a mining defines them."""
    entering, raw = list[Doubles](), list[Doubles]()
    for encoder in lexical(names):
        scores = encoder.fit(snippets).scores(queries)
        raw.append(scores.raw)
        most = scores.raw.max(axis=1, keepdims=True)
        by_largest = np.divide(scores.raw, most, out=np.zeros_like(scores.raw), where=most > 0)
        entering.append(scores.entering if fusion is Fusion.MEAN else by_largest)
    means = np.round(np.array(entering).mean(axis=0), 12)
    shared = np.any(np.array(raw) > 0, axis=0)
    ties, found = rank_by_hash(snippets), []
    for row in range(len(queries)):
        best = first_of_each(np.zeros(len(snippets), dtype=np.int64), means[row], ties, k)
        found.append([(int(one), float(means[row, one])) for one in best if shared[row, one]])
    return found


@pytest.mark.parametrize("fusion", Fusion)
@pytest.mark.parametrize("names", NAMES)
@given(seed=st.integers(0, 10_000), k=st.integers(1, 12), fewest=st.sampled_from([1, 3, 16]))
@settings(max_examples=20, deadline=None)
def test_the_best_by_terms_equal_a_full_sort(
    names: list[str], fusion: Fusion, seed: int, k: int, fewest: int
) -> None:
    snippets, queries = draw_texts(seed, 60, 9), draw_texts(seed + 1, 12, 4)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(terms_alone, "FEWEST", fewest)
        patch.setattr(terms_alone, "QUERIES_A_BLOCK", 5)
        found = encode_distinct_snippets(queries, snippets, lexical(names), None, Options(fusion)).best(k)
        hits = [[(hit.index, hit.score) for hit in one] for one in found]
    assert hits == sort_whole_table(queries, snippets, names, k, fusion)


@pytest.mark.parametrize("names", NAMES)
def test_scores_of_pairs_are_those_of_the_table_to_the_last_bit(names: list[str]) -> None:
    snippets, queries = draw_texts(3, 80, 9), [*draw_texts(4, 20, 4), "wa wa wa wb", "", "unheard"]
    [encoder, *_] = lexical(names)
    index = encoder.fit(snippets)
    table = index.scores(queries)
    rows, places = (found.ravel() for found in np.indices(table.raw.shape))
    search = terms_alone.TermSearch([Terms(encoder.name, queries, index)], Fusion.MEAN)
    [(block, _, scores)] = search.blocks(1)
    raw = scores[encoder.name].raw(rows, places)
    assert block == range(len(queries))
    assert (raw == table.raw.ravel()).all()
    assert (scores[encoder.name].entering(rows, raw) == table.entering.ravel()).all()


def test_few_snippets_are_candidates_where_rare_terms_decide() -> None:
    """Each of 400 snippets has its own two words beside one that all have: of 400, k and no more are left."""
    snippets = [f"every w{n:03}x v{n:03}x" for n in range(400)]
    queries = [f"every w{n:03}x v{n:03}x" for n in range(0, 400, 40)]
    encoder = find_encoder("bm25")
    assert isinstance(encoder, LexicalEncoder)
    search = terms_alone.TermSearch([Terms("bm25", queries, encoder.fit(snippets))], Fusion.MEAN)
    [(_, found, _)] = search.blocks(1)
    assert [one.tolist() for one in found] == [[n] for n in range(0, 400, 40)]
