"""The made-up texts: the same for one seed, no two alike, and functions that compile."""

from __future__ import annotations

import json
from itertools import islice
from pathlib import Path

from bench.million.texts import generate_functions, generate_queries, write_texts
from retrieval.encoders.lexical.terms import tokenize_text
from retrieval.filters import Rule, rules_of


def test_every_function_compiles_and_can_be_tested() -> None:
    functions = list(generate_functions(300))
    for code in functions:
        compile(code, "made up", "exec")
        assert Rule.TESTABLE in rules_of(code)
    assert len(set(functions)) == 300


def test_fewer_texts_are_the_beginning_of_more() -> None:
    assert list(islice(generate_functions(50), 20)) == list(generate_functions(20))
    assert list(islice(generate_queries(50), 20)) == list(generate_queries(20))


def test_words_of_queries_are_words_of_functions_some_of_them_frequent() -> None:
    """By Zipf's law the most frequent word is in far more functions than a usual one."""
    words = [set(tokenize_text(code)) for code in generate_functions(500)]
    shares = sorted((sum(word in own for own in words) for word in set().union(*words)), reverse=True)
    asked = set(tokenize_text(" ".join(generate_queries(200))))
    assert len(asked & set().union(*words)) > 100
    assert shares[0] == 500 and shares[len(shares) // 2] < 5


def test_files_have_a_record_for_each_text_with_an_id(tmp_path: Path) -> None:
    write_texts(tmp_path, 12, 3)
    functions, queries = (
        [json.loads(line) for line in (tmp_path / f"{name}.jsonl").read_text("ascii").splitlines()]
        for name in ("functions", "queries")
    )
    assert [row["id"] for row in functions] == [f"f{number}" for number in range(12)]
    assert [set(row) for row in queries] == [{"id", "query"}] * 3
