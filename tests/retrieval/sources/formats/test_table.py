"""Tables with columns of one's own."""

from pathlib import Path

import pyarrow
import pytest
from pyarrow import parquet

from retrieval.sources import GivenLabel, Problem, Query, Snippet
from retrieval.sources.formats.table import (
    Columns,
    Peek,
    guess_column_roles,
    peek_table_file,
    read_table_rows,
)
from retrieval.sources.readers.lines import find_separator


def test_columns_are_mapped_and_an_empty_label_is_unjudged(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("n,q,c,l\n7,ask,code,2\n8,ask,more,\n9,ask,bad,4\n10,,none,1\n")
    columns = Columns(query="q", snippet="c", label="l", snippet_id="n", scale="graded")
    items = list(read_table_rows(path, columns))
    assert items[:3] == [
        Query("ask", "1", "a.csv"),
        Snippet("code", "7", "a.csv"),
        GivenLabel("ask", "code", 2, "graded"),
    ]
    assert [type(item) for item in items[3:]] == [Query, Snippet, Problem, Problem]
    assert str(items[5]).endswith("record 4: \"l\" is '4'; expected 0 to 3")


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32"])
@pytest.mark.parametrize("separator", [",", ";", "\t"])
@pytest.mark.parametrize("name", ["a.csv", "a.tsv"])
def test_separator_and_encoding_are_found_in_the_file(
    tmp_path: Path, name: str, separator: str, encoding: str
) -> None:
    rows = ("question|the answer|label", '"sort, é; a list"|"def f(x):\n    return x"|1', "other|y = 1|0")
    (tmp_path / name).write_bytes("\n".join(rows).replace("|", separator).encode(encoding))
    columns = Columns(query="question", snippet="the answer", label="label")
    items = list(read_table_rows(tmp_path / name, columns))
    assert items[:3] == [
        Query("sort, é; a list", "2", name),
        Snippet("def f(x):\n    return x", "2", name),
        GivenLabel("sort, é; a list", "def f(x):\n    return x", 1),
    ]
    assert items[5:] == [GivenLabel("other", "y = 1", 0)]


@pytest.mark.parametrize(
    ("header", "separator"),
    [
        ("question;answer, in short;judged", ";"),
        ("question,answer; in short,judged", ","),
        ('"a;b;c",d', ","),
        ("query", ","),
        ("", ","),
    ],
)
def test_the_separator_is_what_gives_most_columns(header: str, separator: str) -> None:
    assert find_separator(header) == separator


def test_a_table_of_parquet_is_read(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    parquet.write_table(pyarrow.table({"q": ["ask"], "c": ["code"], "l": [1]}), path)
    assert peek_table_file(path) == Peek(("q", "c", "l"), ({"q": "ask", "c": "code", "l": 1},))
    items = list(read_table_rows(path, Columns(query="q", snippet="c", label="l")))
    assert items[2] == GivenLabel("ask", "code", 1)


@pytest.mark.parametrize("columns", [{}, {"query": "q", "label": "l"}])
def test_a_mapping_of_no_use_is_refused(columns: dict[str, str]) -> None:
    with pytest.raises(ValueError, match="name the column"):
        Columns(**columns)  # type: ignore[arg-type]  # texts alone


def test_a_missing_column_is_told(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"q": "a", "c": "b"}\n')
    told = [str(item) for item in read_table_rows(path, Columns(query="q", snippet="c", label="judged"))]
    assert told[-1].endswith('has no "judged"')
    assert len(told) == 1


@pytest.mark.parametrize(
    ("header", "roles"),
    [
        (
            "question,answer,judged,url",
            {"query": "question", "snippet": "answer", "label": "judged", "origin": "url"},
        ),
        (
            "Query-ID,Query,code-idx,Code",
            {"query_id": "Query-ID", "query": "Query", "snippet_id": "code-idx", "snippet": "Code"},
        ),
        ("code,label,license", {"snippet": "code", "licence": "license"}),
        ("a,b", {}),
    ],
)
def test_roles_are_guessed_from_the_names_of_columns(
    tmp_path: Path, header: str, roles: dict[str, str]
) -> None:
    path = tmp_path / "a.csv"
    path.write_text(f"{header}\n{','.join('1' for _ in header.split(','))}\n")
    seen = peek_table_file(path)
    assert isinstance(seen, Peek)
    assert {role: name for role, name in guess_column_roles(seen).items() if name} == {
        **roles,
        "scale": "binary",
    }


def test_a_column_that_is_named_twice_is_told_before_anything_is_chosen(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("query,code,label,label\na,b,1,0\n")
    assert "names the column 'label' twice" in str(peek_table_file(path))
    assert [type(item) for item in read_table_rows(path, Columns(query="query"))] == [Problem]


def test_labels_above_1_are_guessed_as_graded(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"query": "q", "code": "c", "score": 1}\n{"query": "q", "code": "d", "score": 3}\n')
    seen = peek_table_file(path)
    assert isinstance(seen, Peek)
    assert guess_column_roles(seen)["scale"] == "graded"


def test_a_peek_reads_the_first_records_alone_and_tells_why_there_are_none(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text("no\n" + "".join(f'{{"c{number}": 1}}\n' for number in range(50)))
    seen = peek_table_file(path)
    assert isinstance(seen, Peek)
    assert seen.columns == tuple(f"c{number}" for number in range(19))
    path.write_text("no\n")
    assert "record 1: is not JSON" in str(peek_table_file(path))


def test_a_column_of_ids_names_each_record_or_it_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "queries.jsonl"
    path.write_text('{"q": "a", "id": 7.0}\n{"q": "b"}\n{"q": "c", "id": "1"}\n')
    first, problem, last = read_table_rows(path, Columns(query="q", query_id="id"))
    assert (first, last) == (Query("a", "7", path.name), Query("c", "1", path.name))
    assert isinstance(problem, Problem) and 'has no id ("id")' in problem.message


def test_a_table_without_ids_calls_its_records_by_their_numbers(tmp_path: Path) -> None:
    path = tmp_path / "queries.jsonl"
    path.write_text('{"q": "a", "id": 7}\n{"q": "b"}\n')
    names = [item.source_id for item in read_table_rows(path, Columns(query="q")) if isinstance(item, Query)]
    assert names == ["0", "1"]
