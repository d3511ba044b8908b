"""What of a benchmark is in training data is found, all of it, and told by kind."""

from __future__ import annotations

import csv
import json
import zipfile
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from hypothesis import given
from hypothesis import strategies as st

from retrieval.filters.duplicates import MULTISET_SIMILARITY, SET_SIMILARITY
from retrieval.models import Benchmark
from retrieval.training.contamination import (
    CODE_RULE,
    QUERY_RULE,
    Likeness,
    NoTrainingTexts,
    Told,
    TrainingTexts,
    find_shared_texts,
    measure_contamination,
    read_code_texts,
    read_table_texts,
)
from tests import factories
from tests.retrieval.evaluation.conftest import (  # noqa: F401  (fixtures)
    annotator,
    benchmark_,
    labelled,
)

LONG = (
    "def merge_rows(first, second, key, how, columns, missing, order, report, limit, seen):\n"
    "    return join(first, second)\n"
)
RENAMED = LONG.replace("join", "combine")
"""13 of 15 identifiers are the same: 12/14 = 0.857 of both sets."""
OTHER = LONG.replace("first", "a").replace("second", "b").replace("key", "c").replace("how", "d")


def told(*texts: str) -> list[Told]:
    return [Told(text, f"t{place}") for place, text in enumerate(texts)]


def kinds(own: list[str], others: list[str], query: bool = False) -> list[tuple[str, str, str]]:
    rule = QUERY_RULE if query else CODE_RULE
    return [
        (found.own.name, found.other.name, found.likeness)
        for found in find_shared_texts(told(*own), told(*others), rule)
    ]


def test_functions_are_the_same_but_for_blanks_or_near_the_same_by_identifiers() -> None:
    blanks = LONG.replace("    return", "\treturn") + "\n\n"
    assert kinds([LONG, "def f(): pass"], [OTHER, RENAMED, blanks]) == [("t0", "t2", "same text")]
    assert kinds([LONG], [OTHER, RENAMED, RENAMED]) == [("t0", "t1", "near same")], "the first of them"
    assert kinds([LONG], [OTHER]) == []


def test_a_function_of_few_identifiers_is_compared_as_text_alone() -> None:
    assert kinds(["def f(a, b): return a"], ["def f(a, b): return b"]) == []
    assert kinds(["def f(a, b): return a"], ["def f(a,  b):\n return a"]) == [("t0", "t0", "same text")]


def test_queries_are_the_same_but_for_case_or_near_the_same_by_words() -> None:
    own = ["python sort a list", "read csv file", "draw a line"]
    others = ["How to sort a list in Python", "READ  csv file", "line chart"]
    assert kinds(own, others, query=True) == [("t0", "t0", "near same"), ("t1", "t1", "same text")]


def test_two_texts_of_the_benchmark_that_are_alike_are_no_training_text() -> None:
    assert kinds([LONG, RENAMED], [OTHER]) == []


@given(
    st.lists(st.lists(st.sampled_from("abcdefghijklmnop"), min_size=10, max_size=14), min_size=1, max_size=6),
    st.lists(st.lists(st.sampled_from("abcdefghijklmnop"), min_size=10, max_size=14), min_size=1, max_size=6),
)
def test_the_join_finds_what_a_comparison_of_all_pairs_finds(
    own: list[list[str]], others: list[list[str]]
) -> None:
    """By the rule itself: same text first, else Jaccard of 0.8 as sets and of 0.7 as multisets."""

    def near(one: str, other: str) -> bool:
        first, second = CODE_RULE.words(one), CODE_RULE.words(other)
        union, meet = len(first | second), len(first & second)
        return (
            meet / union >= SET_SIMILARITY
            and (first & second).total() / (first | second).total() >= MULTISET_SIMILARITY
        )

    mine, theirs = [" ".join(words) for words in own], [" ".join(words) for words in others]
    expected = []
    for place, text in enumerate(mine):
        same = [at for at, other in enumerate(theirs) if other == text]
        alike = [at for at, other in enumerate(theirs) if near(text, other)]
        if same or alike:
            kind = Likeness.SAME if same else Likeness.NEAR
            expected.append((f"t{place}", f"t{(same or alike)[0]}", kind))
    assert kinds(mine, theirs) == expected


def test_matches_are_counted_by_what_of_them_is_seen(benchmark_: Benchmark) -> None:  # noqa: F811
    """Three matches: (0, 0), (0, 2), (1, 1). Function 0 and query 0 are learned, and function 1."""
    queries = told(factories.QUERIES[0].upper())
    functions = told(factories.SNIPPETS[0], factories.SNIPPETS[1])
    found = measure_contamination(benchmark_, TrainingTexts(queries, functions, refused=2))
    assert (found.matches, found.seen_functions, found.seen_pairs, found.refused) == (3, 2, 1, 2)
    assert (found.query_share.texts, found.query_share.same, found.query_share.near) == (3, 1, 0)
    assert (found.function_share.texts, found.function_share.same) == (4, 2)
    assert found.function_share.share == 0.5
    with pytest.raises(NoTrainingTexts):
        measure_contamination(benchmark_, TrainingTexts((), ()))


def test_tables_folders_and_packages_are_read(tmp_path: Path) -> None:
    table = tmp_path / "train.jsonl"
    rows = [{"query": "sort a list", "code": LONG}, {"query": "", "code": LONG}]
    table.write_text("".join(json.dumps(row) + "\n" for row in rows))
    found = read_table_texts(table)
    assert [told.text for told in found.queries] == ["sort a list"] and found.refused == 1
    (tmp_path / "package").mkdir()
    (tmp_path / "package" / "rows.py").write_text(LONG)
    assert [told.name for told in read_code_texts(tmp_path / "package").functions] == ["rows.py::merge_rows"]
    with zipfile.ZipFile(tmp_path / "rows-1.0-py3-none-any.whl", "w") as wheel:
        wheel.writestr("rows.py", LONG)
    assert len(read_code_texts(tmp_path / "rows-1.0-py3-none-any.whl").functions) == 1
    (tmp_path / "other.csv").write_text("a,b\n1,2\n")
    with pytest.raises(NoTrainingTexts, match="no column is called query or code"):
        read_table_texts(tmp_path / "other.csv")


def test_the_command_counts_and_writes_all_rows(
    benchmark_: Benchmark,  # noqa: F811
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    table, out = tmp_path / "train.jsonl", tmp_path / "rows.csv"
    rows = [{"query": "=1+1", "code": code} for code in factories.SNIPPETS[:2]]
    table.write_text("".join(json.dumps(row) + "\n" for row in rows))
    call_command("contamination", "small", "--table", str(table), "--out", str(out), "--json")
    told = json.loads(capsys.readouterr().out)
    assert told["functions"] == {"texts": 4, "same": 2, "near": 0, "share": 0.5}
    assert (told["queries"]["same"], told["seen_functions"], told["seen_pairs"]) == (0, 2, 0)
    with out.open(newline="") as file:
        written = list(csv.DictReader(file))
    assert [(row["of"], row["kind"]) for row in written] == [("function", "same text")] * 2
    assert written[0]["text"].strip() == written[0]["text in training data"].strip()
    call_command("contamination", "small", "--collection", "small")
    assert "100.0%" in (told := capsys.readouterr().out) or "1.000" in told, told


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--collection", "nowhere"], "no collection called 'nowhere'"),
        (["--table", "/no/such.csv"], "There is no /no/such.csv"),
        (["--code", "/no/such"], "There is no /no/such"),
        (["--collection", "small", "--out", "rows.txt"], "ends with .csv or .json"),
        (["--collection", "small", "--out", "/no/such/rows.csv"], "No such file"),
    ],
)
def test_what_can_not_be_compared_or_written_is_refused(
    benchmark_: Benchmark,  # noqa: F811
    more: list[str],
    said: str,
) -> None:
    with pytest.raises(CommandError, match=said):
        call_command("contamination", "small", *more)
