from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.corpus import sample_places_evenly
from retrieval.corpus.lengths import (
    measure_character_lengths,
    measure_token_lengths,
    summarize_lengths,
    texts_in,
    tokens_of,
)
from retrieval.models import Text
from tests import factories


@given(st.integers(0, 5000), st.integers(1, 300))
def test_an_even_sample_is_ascending_and_as_large_as_it_may_be(total: int, most: int) -> None:
    places = sample_places_evenly(total, most)
    assert len(places) == min(total, most)
    assert places == sorted(set(places))
    assert all(0 <= place < total for place in places)
    gaps = {later - earlier for earlier, later in itertools.pairwise(places)}
    assert len(gaps) <= 2


def test_all_places_where_nothing_bounds_them() -> None:
    assert sample_places_evenly(4, None) == [0, 1, 2, 3]


def test_words_and_signs_are_tokens() -> None:
    assert tokens_of("x = f(10)") == 6
    assert tokens_of(" \n") == 0


@given(st.lists(st.integers(0, 1000)), st.integers(1, 50))
def test_a_histogram_holds_every_length_once(lengths: list[int], width: int) -> None:
    found = summarize_lengths(lengths, width)
    assert sum(found.counts.values()) == found.texts == len(lengths)
    assert found.longest == max(lengths, default=None)
    for place, count in found.counts.items():
        assert count == sum(place * width <= length < (place + 1) * width for length in lengths)


@pytest.mark.django_db
def test_the_database_counts_as_python_does() -> None:
    snippets = factories.collection("snippets", ["a" * 9, "b" * 10, "c" * 25, "d = 1"])
    factories.collection("snippets", ["elsewhere"], name="other")
    texts = texts_in(snippets.members.all())
    found = measure_character_lengths(texts, 10)
    expected = summarize_lengths([9, 10, 25, 5], 10)
    assert dict(found.counts) == dict(expected.counts) == {0: 2, 1: 1, 2: 1}
    assert (found.texts, found.mean, found.longest) == (4, 12.25, 25)
    assert measure_token_lengths(texts, 2).counts == {0: 3, 1: 1}
    assert measure_token_lengths(texts, 2, most=2).texts == 2
    assert measure_token_lengths(texts, 2, most=None).texts == 4


@pytest.mark.django_db
def test_without_texts_there_is_no_mean() -> None:
    found = measure_character_lengths(Text.objects.none(), 10)
    assert (found.texts, found.mean, found.longest, dict(found.counts)) == (0, None, None, {})
    assert measure_token_lengths(Text.objects.none(), 10).mean is None
