"""The built-in encoders: what a term is, and what enters the mean."""

import math

import bm25s
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.encoders import UnknownEncoder, find_encoder
from retrieval.encoders.lexical.bag_of_words import BagOfWords
from retrieval.encoders.lexical.bm25 import BM25
from retrieval.encoders.lexical.bm25_fields import FieldedBM25
from retrieval.encoders.lexical.frequencies import Frequencies, count_document_frequencies
from retrieval.encoders.lexical.terms import tokenize_text

SNIPPETS = (
    "def read_csv(path):\n    return open(path)",
    "def writeCSV(path, rows):\n    path.write(rows)",
    "def add(a, b):\n    return a + b",
)
some_texts = st.lists(st.text(alphabet="ab cD_1", max_size=12), min_size=1, max_size=6)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("read_csv", ["read", "csv"]),
        ("writeCsv2", ["write", "csv", "2"]),
        ("HTTPServer", ["httpserver"]),
        ("self.__init__()", ["self", "init"]),
        ("größe", ["größe"]),
        ("", []),
        ("()[]", []),
    ],
)
def test_tokens_split_identifiers(text: str, expected: list[str]) -> None:
    assert tokenize_text(text) == expected


def test_bm25_by_spelling_equals_bm25s_scores_of_words() -> None:
    engine = bm25s.BM25(k1=1.5, b=0.75, method="lucene", dtype="float64")
    engine.index([tokenize_text(snippet) for snippet in SNIPPETS], show_progress=False)
    query = "read the csv csv path"
    expected = engine.get_scores([token for token in tokenize_text(query) if token != "the"])
    assert np.allclose(BM25().fit(SNIPPETS).scores([query]).raw[0], expected, atol=1e-9)


def test_an_index_says_nothing_of_itself(caplog: pytest.LogCaptureFixture) -> None:
    BM25().fit(SNIPPETS)
    assert not [record for record in caplog.records if record.name.startswith("bm25s")]


def test_bm25_enters_as_a_share_of_the_sum_of_idf() -> None:
    """One term, tf 1, length 2 = mean length: 1 / (1 + 1.5) = 0.4 of its idf."""
    scores = BM25().fit(["alpha beta", "gamma delta"]).scores(["alpha"])
    assert scores.raw[0] == pytest.approx([0.4 * math.log(2), 0], abs=1e-9)
    assert scores.bound == pytest.approx([math.log(2)])
    assert scores.entering[0].tolist() == [0.4, 0.0]


def test_bm25_counts_unknown_terms_in_the_bound() -> None:
    """idf of a known term = ln(1 + 1.5 / 1.5), of an unknown one ln(1 + 2.5 / 0.5)."""
    scores = BM25().fit(["alpha beta", "gamma delta"]).scores(["alpha omega"])
    assert scores.bound == pytest.approx([math.log(2) + math.log(6)])
    assert count_document_frequencies(["alpha beta", "gamma delta"]).idf("omega") == pytest.approx(
        math.log(6)
    )


def test_bag_of_words_is_the_cosine_of_counts() -> None:
    """(2 a, 1 b) . (1 a, 1 c) = 2; lengths sqrt 5 and sqrt 2."""
    scores = BagOfWords().fit(["a c", "d"]).scores(["a a b"])
    assert scores.entering[0] == pytest.approx([2 / math.sqrt(10), 0], abs=1e-9)


@pytest.mark.parametrize("name", ["bm25", "bow"])
@pytest.mark.parametrize("snippets", [[], [""], ["", "()"], ["alpha", ""]])
@pytest.mark.parametrize("query", ["", "unheard of"])
def test_nothing_in_common_scores_zero(name: str, snippets: list[str], query: str) -> None:
    encoder = find_encoder(name)
    assert isinstance(encoder, BM25 | BagOfWords)
    scores = encoder.fit(snippets).scores([query])
    assert scores.entering.shape == (1, len(snippets))
    assert not scores.entering.any()


@pytest.mark.parametrize("encoder", [BM25(), BagOfWords()])
@given(snippets=some_texts, queries=some_texts)
def test_entering_scores_lie_between_zero_and_one(
    encoder: BM25 | BagOfWords, snippets: list[str], queries: list[str]
) -> None:
    entering = encoder.fit(snippets).scores(queries).entering
    assert entering.shape == (len(queries), len(snippets))
    assert ((entering >= 0) & (entering <= 1)).all()


@pytest.mark.parametrize("encoder", [BM25(), BagOfWords()])
@given(snippets=some_texts, queries=some_texts)
def test_a_query_scores_the_same_alone_and_among_others(
    encoder: BM25 | BagOfWords, snippets: list[str], queries: list[str]
) -> None:
    index = encoder.fit(snippets)
    together = index.scores(queries).entering
    assert all((index.scores([q]).entering == row).all() for q, row in zip(queries, together, strict=True))


@pytest.mark.parametrize("encoder", [BM25(), BagOfWords(), FieldedBM25()])
@given(snippets=some_texts, queries=some_texts, cut=st.integers(0, 6))
def test_parts_weighed_by_the_frequencies_of_all_score_to_the_last_bit_alike(
    encoder: BM25 | BagOfWords | FieldedBM25, snippets: list[str], queries: list[str], cut: int
) -> None:
    fields = zip(*map(encoder.fields, snippets), strict=True)
    known = [Frequencies.from_bytes(count_document_frequencies(texts).to_bytes()) for texts in fields]
    whole = encoder.fit(snippets).scores(queries)
    some = [encoder.fit(part, known).scores(queries) for part in (snippets[:cut], snippets[cut:])]
    assert (np.hstack([one.raw for one in some]) == whole.raw).all()
    assert (np.hstack([one.entering for one in some]) == whole.entering).all()


def test_an_unknown_name_lists_the_known_ones() -> None:
    with pytest.raises(UnknownEncoder, match=r"no encoder is called 'bm26'.*bm25, bow"):
        find_encoder("bm26")
