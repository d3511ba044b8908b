"""TREC's and CodeSearchNet's files of judgements and runs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.sources.formats.trec import Judgement, Result, Rows, read_qrels, read_run
from retrieval.sources.readers.lines import Malformed


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "file"


def test_trec_qrels(file: Path) -> None:
    file.write_text("q1 0 d1 1\n\nq1\t0  d2\t0.5\r\nq2 Q0 d1 -1")
    read = read_qrels(file)
    assert not read.has_languages
    assert list(read.rows) == [
        Judgement(None, "q1", "d1", 1.0, 1),
        Judgement(None, "q1", "d2", 0.5, 3),
        Judgement(None, "q2", "d1", -1.0, 4),
    ]


def test_trec_run(file: Path) -> None:
    file.write_text("q1 Q0 d1 1 9.5 mine\nq1 Q0 d2 -1 1e-3 mine\n")
    assert list(read_run(file).rows) == [
        Result(None, "q1", "d1", 9.5, 1, 1),
        Result(None, "q1", "d2", 0.001, -1, 2),
    ]


def test_json_of_pytrec_eval_is_read_as_run_and_as_qrels(tmp_path: Path) -> None:
    path = tmp_path / "run.JSON"
    path.write_text('{"q1": {"d1": 1.5, "d2": 2}, "q2": {}}')
    assert list(read_run(path).rows) == [
        Result(None, "q1", "d1", 1.5, 1, 1),
        Result(None, "q1", "d2", 2.0, 2, 1),
    ]
    path.write_text('{"q1": {"d1": 1, "d2": 0}}')
    assert [row[1:] for row in read_qrels(path).rows] == [("q1", "d1", 1.0, 1), ("q1", "d2", 0.0, 1)]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('[{"q1": 1}]', r'expected a number by query and document, as in \{"query": \{"document": 1.5'),
        ('{"q1": ["d1"]}', "expected a number by query and document"),
        ('{"q1": {"d1": "high"}}', "expected a number as score, found 'high'"),
        ('{"q1": {"d1": NaN}}', "expected a number as score, found 'nan'"),
        ('{"q1": {"d1": true}}', "expected a number as score, found 'True'"),
        ('{"q1": {"d1": 1}', "nothing after this record can be read"),
        ("q1 Q0 d1 1 1.0 t", "expected a JSON array or object"),
        ('{"q1": {"d1": 1, "d1": 0}}', "has the key 'd1' twice"),
        ('{"q1": {"d1": 1}, "q1": {"d2": 1}}', "the query 'q1' was there before"),
    ],
)
def test_json_that_is_no_run_is_refused(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "run.json"
    path.write_text(text)
    with pytest.raises(Malformed, match=message):
        list(read_run(path).rows)


def test_a_rank_may_be_written_as_a_data_frame_does(file: Path) -> None:
    file.write_text("q1 Q0 d2 1.0 2.0 t\n")
    assert [row.rank for row in read_run(file).rows] == [1]


@pytest.mark.parametrize("separator", [";", "\t"])
def test_annotations_may_be_separated_otherwise(file: Path, separator: str) -> None:
    rows = ("Language,Query,GitHubUrl,Relevance", "Python,sort,url,2")
    file.write_text("\n".join(rows).replace(",", separator))
    assert list(read_qrels(file).rows) == [Judgement("Python", "sort", "url", 2.0, 2)]


def test_between_tabs_a_query_may_have_blanks(file: Path) -> None:
    file.write_text("sort a list\t0\td1\t1\n")
    assert next(read_qrels(file).rows).query == "sort a list"


def test_codesearchnets_annotations(file: Path) -> None:
    file.write_text('Language,Query,GitHubUrl,Relevance,Notes\nGo,sort,http://a,2,"not, quite"\n')
    read = read_qrels(file)
    assert read.has_languages
    assert list(read.rows) == [Judgement("Go", "sort", "http://a", 2.0, 2)]


def test_codesearchnets_predictions_are_ranked_by_their_rows(file: Path) -> None:
    file.write_text("identifier,url,query,language\nf,http://a,sort,go\ng,http://b,sort,go\n")
    assert list(read_run(file).rows) == [
        Result("go", "sort", "http://a", 0.0, 2, 2),
        Result("go", "sort", "http://b", 0.0, 3, 3),
    ]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_annotations_as_excel_writes_them(file: Path, end: str) -> None:
    rows = ("sep=;", "Language;Query;GitHubUrl;Relevance", "Go;sort;http://a;3")
    file.write_bytes("".join(f"{row}{end}" for row in rows).encode())
    assert list(read_qrels(file).rows) == [Judgement("Go", "sort", "http://a", 3.0, 3)]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "file: is empty"),
        (" \n\n", "file: is empty"),
        ("q 0 d\n", r"line 1: expected 4 columns \(query iteration document relevance\), found 3: 'q 0 d'"),
        ("q 0 d 1\nq 0 d e 1\n", "line 2: expected 4 columns .* found 5"),
        ("q 0 d x\n", "line 1: expected a number from -1000 to 1000 as relevance, found 'x'"),
        ("q 0 d 1001\n", "line 1: expected a number from -1000 to 1000"),
        ("Language,Query,GitHubUrl,Relevance\nGo,,u,1\n", "line 2: has no query: 'Go,,u,1'"),
        ("Language,Query,GitHubUrl,Relevance\nGo\n", "line 2: has no query, no githuburl, no relevance"),
        ("Language,Query,GitHubUrl,Relevance\nGo,q,u,high\n", "line 2: expected a number .* found 'high'"),
        ("sep=|\nLanguage|Query|GitHubUrl|Relevance\n", r"line 1: '\|' separates the columns: save it with"),
        ("Language,Query,GitHubUrl,Relevance,query\n", "line 1: the header names the column 'query' twice"),
    ],
)
def test_bad_judgements_are_told_by_line(file: Path, text: str, message: str) -> None:
    file.write_text(text)
    with pytest.raises(Malformed, match=message):
        list(read_qrels(file).rows)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("q Q0 d 1 0.5\n", r"line 1: expected 6 columns \(query Q0 document rank score tag\), found 5"),
        ("q Q0 d first 0.5 me\n", "line 1: expected a whole number as rank, found 'first'"),
        ("q Q0 d 9999999999999999999 0.5 me\n", "line 1: expected a whole number as rank"),
        ("q Q0 d 1 nan me\n", "line 1: expected a number as score, found 'nan'"),
        ("language,query,url\ngo,sort,\n", "line 2: has no url"),
        ('language,query,url\ngo,"sort,u\n', "line 2: is not CSV"),
        ("language,query,url,URL\n", "line 1: the header names the column 'url' twice"),
    ],
)
def test_bad_results_are_told_by_line(file: Path, text: str, message: str) -> None:
    file.write_text(text)
    with pytest.raises(Malformed, match=message):
        list(read_run(file).rows)


@pytest.mark.parametrize(
    ("read", "columns"),
    [
        (read_qrels, "the columns language, query, githuburl, relevance"),
        (read_run, "the columns language, query, url"),
    ],
)
def test_a_table_with_other_columns_is_told_those_of_its_format(
    tmp_path: Path, read: Callable[[Path], Rows[Any]], columns: str
) -> None:
    (table := tmp_path / "table.csv").write_text("lang,q,u\ngo,sort,u1\n")
    with pytest.raises(Malformed, match=f"expected {columns} in the header, found 'lang,q,u'"):
        read(table)


def test_a_run_may_be_called_a_table(tmp_path: Path) -> None:
    (run := tmp_path / "run.csv").write_text("q Q0 d,1 1 0.5 me\n")
    assert [row.document for row in read_run(run).rows] == ["d,1"]


@given(st.binary(max_size=200))
def test_any_bytes_are_read_or_refused(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    file = tmp_path_factory.getbasetemp() / "any"
    for head in (b"", b"language,query,url\n", b"q 0 d 1\n"):
        file.write_bytes(head + content)
        for read in (read_qrels, read_run):
            try:
                list(read(file).rows)
            except Malformed as refused:
                message = str(refused)
                assert message


@pytest.mark.real_data
def test_the_real_annotations(real_data: Path) -> None:
    read = read_qrels(real_data / "codesearchnet" / "annotationStore-part.csv")
    rows = list(read.rows)
    assert read.has_languages
    assert len(rows) == 1822
    assert {row.language for row in rows} == {"Go", "Java", "Python", "Ruby"}
    assert {row.relevance for row in rows} == {0, 1, 2, 3}
