"""CoSQA's and CoSQA+'s files: both vocabularies of keys, labels, and messages with record numbers."""

import json
from pathlib import Path
from typing import Any

import pytest

from retrieval.sources import Problem, Record
from retrieval.sources.formats.cosqa import (
    GivenLabel,
    TextsById,
    read_code_of_pairs,
    read_labels,
    read_pairs,
    read_queries,
    read_snippets,
)


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    return tmp_path / "file.json"


def test_queries_of_cosqa(saved: Path) -> None:
    saved.write_text(json.dumps([{"idx": "cosqa-train-7", "doc": "sort a list", "code": "def f(): ..."}]))
    assert list(read_queries(saved, "C-UDA")) == [
        Record("sort a list", "cosqa-train-7", "file.json", "C-UDA")
    ]


def test_queries_of_cosqa_plus(saved: Path) -> None:
    saved.write_text(
        json.dumps([{"query-idx": 3, "query": "sort a list"}, {"query-idx": 7, "query": "read csv"}])
    )
    assert list(read_queries(saved)) == [
        Record("sort a list", "3", "file.json"),
        Record("read csv", "7", "file.json"),
    ]


def test_queries_without_any_id_are_called_by_their_numbers(saved: Path) -> None:
    saved.write_text(json.dumps([{"query": "sort a list"}, {"query": "read csv"}]))
    found = [record for record in read_queries(saved) if isinstance(record, Record)]
    assert [(record.source_id, record.id_from) for record in found] == [
        ("0", "row numbers"),
        ("1", "row numbers"),
    ]


@pytest.mark.parametrize(
    ("rows", "why"),
    [
        (
            [{"query-idx": 1}, {}],
            'has no id ("query-idx", "query_idx", "query-id" or the like); it has "query"',
        ),
        ([{}, {"query-idx": 0}], "has the id '0', but the first record has none; give every record one"),
    ],
)
def test_no_query_takes_its_number_for_the_id_of_another(
    saved: Path, rows: list[dict[str, int]], why: str
) -> None:
    saved.write_text(json.dumps([{**row, "query": f"sort {n}"} for n, row in enumerate(rows)]))
    first, problem = read_queries(saved)
    assert isinstance(first, Record) and isinstance(problem, Problem)
    assert (problem.record, problem.message) == (2, why)


@pytest.mark.parametrize("query_id", ["query-idx", "query_idx", "query-id", "query_id", "qid", "idx"])
@pytest.mark.parametrize("code_id", ["code-idx", "code_idx", "code-id", "code_id", "retrieval_idx"])
def test_ids_of_a_pair_are_read_however_they_are_called(saved: Path, query_id: str, code_id: str) -> None:
    saved.write_text(json.dumps([{query_id: 7, "query": "sort", code_id: "3", "code": "x = 1", "label": 1}]))
    (label,) = read_labels(saved)
    assert isinstance(label, GivenLabel) and (label.query_id, label.snippet_id) == ("7", "3")
    for read, name in ((read_queries, "7"), (read_snippets, "3")):
        (record,) = read(saved)
        assert isinstance(record, Record) and (record.source_id, record.has_id) == (name, True)


@pytest.mark.parametrize("key", ["id", "_id"])
def test_an_id_of_a_pair_is_neither_its_querys_nor_its_codes(saved: Path, key: str) -> None:
    rows = [{key: n, "query": "sort", "code": "x = 1", "label": 1} for n in (1, 2)]
    saved.write_text(json.dumps(rows))
    assert [(one.query_id, one.snippet_id) for one in read_labels(saved) if isinstance(one, GivenLabel)] == [
        ("", ""),
        ("", ""),
    ]


def test_an_id_of_a_pair_that_means_another_text_is_refused(saved: Path) -> None:
    """In one file, and where another file of the import has said what the id means."""
    pair = {"idx": "a", "doc": "sort", "code": "x = 1", "retrieval_idx": 1, "label": 1}
    saved.write_text(json.dumps([pair, {**pair, "doc": "read"}, {**pair, "code": "x = 2"}]))
    again = "was there before with another text; the first one counts"
    asked, code, labels = list(read_queries(saved)), list(read_code_of_pairs(saved)), list(read_labels(saved))
    assert [str(one) for one in asked if isinstance(one, Problem)] == [
        f"{saved}, record 2: the id 'a' {again}"
    ]
    assert [one.text for one in code if isinstance(one, Record)] == ["x = 1", "x = 1"]
    assert [str(one) for one in labels if isinstance(one, Problem)] == [
        f"{saved}, record 3: the id '1' {again}"
    ]
    known, base = TextsById(), saved.with_name("map.json")
    base.write_text(json.dumps({"x = 2": 1, "x = 3": 1}))
    assert [str(one) for one in read_snippets(base, known=known) if isinstance(one, Problem)] == [
        f"{base}, record 2: the id '1' {again}"
    ]
    refused = [one.record for one in read_pairs(saved, known) if isinstance(one, Problem)]
    assert refused == [1, 2]  # their code is x = 1; the third's query has its first text


def test_a_code_base_as_an_object(saved: Path) -> None:
    saved.write_text(json.dumps({"def f():\n    pass": 0, "def g(): ...": 1}))
    assert list(read_snippets(saved)) == [
        Record("def f():\n    pass", "0", "file.json"),
        Record("def g(): ...", "1", "file.json"),
    ]


def test_a_code_base_as_an_array(saved: Path) -> None:
    saved.write_text(
        json.dumps([{"code-idx": 5, "code": "def f(): ..."}, {"idx": 9, "code": "x", "source": "CSN"}])
    )
    assert list(read_snippets(saved)) == [
        Record("def f(): ...", "5", "file.json"),
        Record("x", "9", "file.json"),
    ]


def test_labels_of_pairs(saved: Path) -> None:
    pairs: list[dict[str, Any]] = [
        {"doc": "a", "code": "b", "label": 1},
        {"pair-idx": 1, "query": "c", "code": "d", "label": 0},
        {"query": "no label"},
        {"query": "unjudged", "code": "e", "label": None},
    ]
    saved.write_text(json.dumps(pairs))
    for read in (read_labels, read_pairs):
        assert list(read(saved)) == [GivenLabel("a", "b", 1), GivenLabel("c", "d", 0)]


def test_the_code_of_pairs(saved: Path) -> None:
    pairs: list[Any] = [
        {"idx": "dev-0", "doc": "a", "code": "b", "label": 1},
        {"idx": "dev-1", "doc": "a", "code": "c", "label": 1, "retrieval_idx": 7},
        {"query": "only a query"},
        {"doc": "a", "code": " ", "label": 0},
        {"doc": "a", "code": 5},
        "no object",
        {"doc": "a", "code": 6, "label": None},
    ]
    saved.write_text(json.dumps(pairs))
    first, second, problem, unjudged = read_code_of_pairs(saved)
    assert [first, second] == [Record("b", "dev-0", "file.json"), Record("c", "7", "file.json")]
    assert isinstance(problem, Problem) and problem.record == 5  # the fourth is told with its label
    assert isinstance(unjudged, Problem) and unjudged.record == 7


@pytest.mark.parametrize(
    ("record", "message"),
    [
        ({"question": "a", "x": 1}, 'has no "doc" or "query"; it has "question", "x"'),
        ({}, 'has no "doc" or "query"; it has nothing'),
        ({"doc": 5}, "\"doc\" must be a text that is not empty, found '5'"),
        ({"doc": "  "}, '"doc" must be a text that is not empty'),
        ("sort a list", 'expected an object with "doc" or "query", found \'sort a list\''),
    ],
)
def test_wrong_records_are_told_and_the_others_kept(record: Any, message: str, saved: Path) -> None:
    saved.write_text(json.dumps([{"doc": "good"}, record, {"doc": "also good"}]))
    first, problem, last = read_queries(saved)
    assert isinstance(first, Record)
    assert isinstance(last, Record)
    assert isinstance(problem, Problem)
    assert (problem.file, problem.record) == (str(saved), 2)
    assert message in problem.message


@pytest.mark.parametrize("label", [2, -1, "1", "", True, 0.5, [1]])
def test_only_zero_and_one_are_labels(label: Any, saved: Path) -> None:
    saved.write_text(json.dumps([{"doc": "a", "code": "b", "label": label}]))
    (problem,) = read_labels(saved)
    assert isinstance(problem, Problem)
    assert "expected 0 or 1" in problem.message


def test_a_number_that_is_written_as_a_text_is_called_one(saved: Path) -> None:
    saved.write_text(json.dumps([{"doc": "a", "code": "b", "label": "1"}]))
    (problem,) = read_labels(saved)
    assert isinstance(problem, Problem)
    assert problem.message == "\"label\" is '1'; expected 0 or 1, a number"


def test_an_object_that_is_no_code_base(saved: Path) -> None:
    saved.write_text(json.dumps({"def f(): ...": "zero", " ": 1, "def g(): ...": 2}))
    found = list(read_snippets(saved))
    assert [type(record) for record in found] == [Problem, Problem, Record]
    assert "expected a function and its index, found 'def f(): ...': 'zero'" in str(found[0])


def test_files_given_the_wrong_way_round(saved: Path) -> None:
    saved.write_text(json.dumps({"def f(): ...": 0}))
    (problem,) = read_queries(saved)
    assert str(problem) == f'{saved}, record 1: expected an object with "doc" or "query", found \'0\''


@pytest.mark.real_data
def test_the_real_files(real_data: Path) -> None:
    folder = real_data / "cosqa"
    queries = list(read_queries(folder / "cosqa-retrieval-dev-500.json"))
    snippets = list(read_snippets(folder / "code_idx_map.txt"))
    labels = list(read_labels(folder / "cosqa-dev.json"))
    assert [len(queries), len(snippets), len(labels)] == [500, 6267, 604]
    assert not any(isinstance(found, Problem) for found in (*queries, *snippets, *labels))
    texts = {snippet.text for snippet in snippets if isinstance(snippet, Record)}
    assert all(label.snippet in texts for label in labels if isinstance(label, GivenLabel))
    for name, pairs in (("cosqa-dev.json", 604), ("cosqa-retrieval-dev-500.json", 500)):
        code = [one.text for one in read_code_of_pairs(folder / name) if isinstance(one, Record)]
        assert len(code) == pairs and texts.issuperset(code)
