from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.filters.queries import (
    NO_QUERY_RULE,
    QueryRule,
    find_broken_rules,
    flag_passing_queries,
    is_english,
    is_identifier,
    near_duplicate_key,
)

EVERY = QueryRule.ENGLISH | QueryRule.NO_IDENTIFIER | QueryRule.DISTINCT


@pytest.mark.parametrize(
    "query",
    [
        "python sort a list",
        "naïve bayes python",
        "numpy array to la liste",
        "how to use en dash",
        "",
        "del x in python",
    ],
)
def test_english_stays(query: str) -> None:
    assert is_english(query)


@pytest.mark.parametrize(
    "query",
    [
        "wie kann ich eine liste sortieren",
        "como ordenar una lista en python",
        "comment trier les noms dans une liste",
        "排序列表 python",
        "как отсортировать список python",
    ],
)
def test_other_languages_do_not(query: str) -> None:
    assert not is_english(query)


@pytest.mark.parametrize(
    "query", ["tf.gather_nd", "python tf.gather_nd", "in python requests.get", "readCSV", "sorted"]
)
def test_a_name_alone_is_an_identifier(query: str) -> None:
    assert is_identifier(query)


@pytest.mark.parametrize("query", ["python list", "sort list", "what is __init__", "", "python", "c++ map"])
def test_more_than_a_name_is_none(query: str) -> None:
    assert not is_identifier(query)


def test_the_order_of_words_counts() -> None:
    assert near_duplicate_key("How to sort lists in Python?") == near_duplicate_key("python sort a list")
    assert near_duplicate_key("convert int to string") != near_duplicate_key("convert string to int")
    assert near_duplicate_key("how to") == ("how", "to")
    assert near_duplicate_key("caf\u00e9 \uff21") == near_duplicate_key("CAFE\u0301  a.") == ("caf\u00e9",)


def test_the_first_of_near_same_queries_stays() -> None:
    queries = ["sort a list", "tf.sort", "python sort lists", "SORT LIST"]
    assert list(find_broken_rules(queries)) == [
        NO_QUERY_RULE,
        QueryRule.NO_IDENTIFIER,
        QueryRule.DISTINCT,
        QueryRule.DISTINCT,
    ]
    assert list(flag_passing_queries(queries, EVERY)) == [True, False, False, False]


def test_what_is_refused_anyway_stands_for_nobody() -> None:
    queries = ["os.path", "OS path?"]
    assert list(flag_passing_queries(queries, QueryRule.DISTINCT)) == [True, False]
    assert list(flag_passing_queries(queries, QueryRule.DISTINCT | QueryRule.NO_IDENTIFIER)) == [False, True]


@given(st.lists(st.text(max_size=30)))
def test_no_rule_refuses_nothing_and_choosing_again_changes_nothing(queries: list[str]) -> None:
    assert all(flag_passing_queries(queries, NO_QUERY_RULE))
    kept = [
        query for query, passes in zip(queries, flag_passing_queries(queries, EVERY), strict=True) if passes
    ]
    assert all(flag_passing_queries(kept, EVERY))


@pytest.mark.real_data
def test_real_queries_are_taken_for_english(real_data: Path) -> None:
    queries = [row["doc"] for row in json.loads((real_data / "cosqa" / "cosqa-dev.json").read_text())]
    assert all(map(is_english, queries))
