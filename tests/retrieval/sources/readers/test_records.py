"""Records of files of many kinds: what is readable is kept, what is not is told by number."""

import gzip
import json
import math
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.sources import Problem
from retrieval.sources.readers import compression, records
from retrieval.sources.readers.records import (
    LONGEST_ID,
    Refused,
    lines_of,
    name_of_record,
    read_id,
    read_record_objects,
    text_of_record,
    whole_number,
)


def saved(folder: Path, name: str, content: str | bytes) -> Path:
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def good(path: Path) -> list[Any]:
    return [row[1] for row in read_record_objects(path) if not isinstance(row, Problem)]


def problems(path: Path) -> list[tuple[int, str]]:
    return [(row.record, row.message) for row in read_record_objects(path) if isinstance(row, Problem)]


@pytest.mark.parametrize("name", ["a.jsonl", "a.JSONL.gz", "a.ndjson"])
def test_bad_lines_are_told_beside_good_ones(tmp_path: Path, name: str) -> None:
    content = b'\xef\xbb\xbf{"a": 1}\n\n{"a":\n[1]\n{"a": "\xff"}\n{"a": 2}'
    path = saved(tmp_path, name, gzip.compress(content) if name.endswith("gz") else content)
    assert good(path) == [{"a": 1}, {"a": 2}]
    assert [number for number, _ in problems(path)] == [3, 4, 5]


def test_a_line_without_end_is_passed_over_in_pieces(tmp_path: Path) -> None:
    path = saved(tmp_path, "a.jsonl", "x" * 50 + "\nshort\n")
    read = list(lines_of(path, limit=10))
    assert read[1] == (2, "short\n")
    assert isinstance(read[0], Problem)
    assert "longer than 10 characters" in read[0].message


def test_a_cut_off_gzip_keeps_what_came_before(tmp_path: Path) -> None:
    packed = gzip.compress(b'{"a": 1}\n' * 50_000, mtime=0)
    path = saved(tmp_path, "a.jsonl.gz", packed[:-20])
    assert len(good(path)) > 1000
    assert "cannot be read to its end" in problems(path)[-1][1]
    assert "cannot be read" in problems(saved(tmp_path, "b.jsonl.gz", b"no gzip"))[0][1]


def test_rows_of_tables_have_the_names_of_the_header(tmp_path: Path) -> None:
    path = saved(tmp_path, "a.csv", 'q,c\n1,"x\ny"\n\nonly one\n2,z\n')
    assert good(path) == [{"q": "1", "c": "x\ny"}, {"q": "2", "c": "z"}]
    assert problems(path) == [(5, "expected 2 columns as in the header, found 1")]
    assert good(saved(tmp_path, "a.tsv", "q\tc\n1\t2\n")) == [{"q": "1", "c": "2"}]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_rows_that_end_in_a_carriage_return_are_rows(
    tmp_path: Path, encoding: str, pack: Callable[[bytes], bytes]
) -> None:
    content = 'q,c\r1,"x\ny\rz"\r\ronly one\r2,z'
    path = saved(tmp_path, "a.csv", pack(content.encode(encoding)))
    assert good(path) == [{"q": "1", "c": "x\ny\rz"}, {"q": "2", "c": "z"}]
    # Lines end in \r: the cell in quotes begins on the second and ends on the third.
    assert problems(path) == [(5, "expected 2 columns as in the header, found 1")]


def test_a_carriage_return_in_quotes_is_text(tmp_path: Path) -> None:
    path = saved(tmp_path, "a.csv", '"q\rr",c\n1,"x\ry"\r\n2,z\n')
    assert good(path) == [{"q\rr": "1", "c": "x\ry"}, {"q\rr": "2", "c": "z"}]


@pytest.mark.parametrize("content", ["q,c\n1,2\r3,4\n5,6\n", "q,c\r1,2\n3,4\r5,6\r"])
def test_rows_that_end_otherwise_than_others_are_told_in_words(tmp_path: Path, content: str) -> None:
    path = saved(tmp_path, "a.csv", content)
    assert good(path) == [{"q": "5", "c": "6"}]
    ((line, why),) = problems(path)
    assert line == 2
    assert why.startswith("has a line end in a cell without quotes: put the cell in quotes, or save")


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.csv", "sep=;\r\nq;c\r\n1;x,y,z\r\n"),
        ("a.csv", '"sep=;"\nq;c\n1;"x,y,z"\n'),
        ("a.csv", "\ufeffSEP=|\nq|c\n1|x,y,z\n"),
        ("a.csv", "sep=;\rq;c\r1;x,y,z\r"),
        ("a.tsv", "sep=\t\nq\tc\n1\tx,y,z\n"),
    ],
)
def test_the_line_that_tells_excel_the_separator_is_no_header(
    tmp_path: Path, name: str, content: str
) -> None:
    path = saved(tmp_path, name, content)
    assert list(read_record_objects(path)) == [(3, {"q": "1", "c": "x,y,z"})]


@pytest.mark.parametrize("header", ["q,c,q", " q ,c,q", "q,,c,q,"])
def test_a_table_that_names_a_column_twice_is_refused(tmp_path: Path, header: str) -> None:
    path = saved(tmp_path, "a.csv", f"{header}\n{header}\n")
    assert list(read_record_objects(path)) == [
        Problem(str(path), 1, "the header names the column 'q' twice: rename or remove one")
    ]
    assert good(saved(tmp_path, "b.csv", ",q,\n0,1,2\n")) == [{"": "2", "q": "1"}]


def test_broken_quotes_are_told_and_the_next_row_is_read(tmp_path: Path) -> None:
    path = saved(tmp_path, "a.csv", 'q,c\n"a"b,1\n2,z\n')
    assert good(path) == [{"q": "2", "c": "z"}]
    assert problems(path)[0][0] == 2


def test_a_row_that_lacks_a_line_is_refused_whole(tmp_path: Path) -> None:
    path = saved(tmp_path, "a.csv", b'q,c\n1,"x\n\xff\ny"\n2,"\xff\n,z"\n3,z\n')
    assert good(path) == [{"q": "3", "c": "z"}]
    assert [number for number, _ in problems(path)] == [3, 5]


def test_a_cell_may_be_as_long_as_a_text_and_a_longer_one_is_no_rows(tmp_path: Path) -> None:
    long = "x, y\n" * 30_000
    path = saved(tmp_path, "a.csv", f'q,c\n1,"{long}"\n2,z\n')
    assert good(path) == [{"q": "1", "c": long}, {"q": "2", "c": "z"}]
    path = saved(tmp_path, "a.csv", f'q,c\n1,"{long * 30}"\n2,z\n')
    assert good(path) == [{"q": "2", "c": "z"}]
    ((_, why),) = problems(path)
    assert why.startswith("has a cell of more than 4,194,304 characters: shorten it, or close its quotes")


def test_an_array_has_objects_and_a_name_tells_the_format(tmp_path: Path) -> None:
    path = saved(tmp_path, "a.json", '[{"a": 1}, 2]')
    assert (good(path), problems(path)) == ([{"a": 1}], [(2, "expected an object, found '2'")])
    assert "must end in one of .jsonl" in problems(saved(tmp_path, "a.parquet", "x"))[0][1]


@pytest.mark.parametrize("value", [None, 3, " ", []])
def test_a_text_must_be_one(value: object) -> None:
    with pytest.raises(Refused):
        text_of_record({"a": value}, ["a"])


@pytest.mark.parametrize("written", [True, "yes", 0.5, 2, None, "0.5", "2.0", ".0"])
def test_a_label_is_a_whole_number(written: object) -> None:
    with pytest.raises(Refused, match="expected 0 or 1"):
        whole_number(written, range(2), "label")
    assert [whole_number(one, range(2), "label") for one in (1, "1", 1.0, " 1 ", "1.0")] == [1] * 5


def test_a_name_is_a_text_or_a_whole_number() -> None:
    values: list[object] = ["a", 7, 7.0, 7.5, float("nan"), float("inf"), None, [1]]
    assert [name_of_record({"id": value}, ["id"], "row") for value in values] == ["a", "7", "7", *["row"] * 5]


@given(rows=st.lists(st.dictionaries(st.text(), st.text() | st.integers(), max_size=3), max_size=5))
def test_what_json_writes_is_read_back(
    tmp_path_factory: pytest.TempPathFactory, rows: list[dict[str, Any]]
) -> None:
    path = tmp_path_factory.mktemp("rows") / "a.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert good(path) == rows
    assert records.kind_of(path) == ".jsonl"


@pytest.mark.parametrize("content", ["\n" * 4_000_000, "x" * 4_000_000])
def test_what_packs_too_well_is_read_to_a_limit_and_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: str
) -> None:
    monkeypatch.setattr(compression, "SURELY_SMALL", 1000)
    path = tmp_path / "bomb.jsonl.gz"
    path.write_bytes(gzip.compress(content.encode()))
    told = [found for found in records.lines_of(path, limit=10_000) if isinstance(found, Problem)]
    assert "unpacks to over 200 times its size" in str(told[-1])
    (tmp_path / "plain.jsonl").write_text(content)
    plain = [found for found in records.lines_of(tmp_path / "plain.jsonl") if isinstance(found, Problem)]
    assert not any("unpacks" in str(one) for one in plain)


@pytest.mark.parametrize(
    ("record", "why"),
    [
        ({"a": 1}, 'has no "code" or "function"; it has "a"'),
        ({"code": None}, 'has no text: "code" is null'),
        ({"code": None, "function": None}, 'has no text: "code" and "function" are null'),
    ],
)
def test_a_null_is_not_called_missing(record: dict[str, Any], why: str) -> None:
    with pytest.raises(Refused) as refused:
        text_of_record(record, ["code", "function"])
    assert str(refused.value) == why


@pytest.mark.parametrize(
    "content",
    ['[\n{"a": 1},\n{"a": 2}\n]\n', '[{"a": 1}, {"a": 2}]', ' \n[\n {\n  "a": 1\n },\n {"a": 2}]'],
)
def test_json_lines_that_are_one_array_are_read(tmp_path: Path, content: str) -> None:
    assert good(saved(tmp_path, "a.jsonl", content)) == [{"a": 1}, {"a": 2}]
    assert good(saved(tmp_path, "a.jsonl.gz", gzip.compress(content.encode()))) == [{"a": 1}, {"a": 2}]


def test_a_line_that_is_an_array_of_numbers_is_a_bad_line(tmp_path: Path) -> None:
    path = saved(tmp_path, "a.jsonl", '[1]\n{"a": 1}\n')
    assert good(path) == [{"a": 1}]
    assert problems(path) == [(1, "expected an object, found '[1]'")]


def test_bytes_of_latin_1_are_told_with_what_to_do(tmp_path: Path) -> None:
    path = saved(tmp_path, "a.csv", "q;c\nsort;é\nfind;x\n".encode("latin-1"))
    assert good(path) == [{"q": "find", "c": "x"}]
    assert problems(path) == [(2, "has bytes that are not UTF-8; convert the file to UTF-8")]


@pytest.mark.parametrize(
    ("value", "why"),
    [
        ("x" * (LONGEST_ID + 1), '"_id" is longer than 300 characters'),
        (2.0**53, "is a number with a point so large that its whole number is not known; give it as a text"),
        (-1e300, "is a number with a point so large"),
        (math.nan, "is no id"),
        (math.inf, "is no id"),
        (1.5, "is no id"),
    ],
)
def test_an_id_that_could_be_taken_for_another_one_is_refused(value: object, why: str) -> None:
    with pytest.raises(Refused, match=re.escape(why)):
        read_id({"_id": value, "text": "x"}, ["_id"])


@pytest.mark.parametrize(
    ("value", "name"), [("007", "007"), (7.0, "7"), (2**70, str(2**70)), ("1.0", "1.0"), ("a\0b", "a␀b")]
)
def test_an_id_is_stored_as_it_is_written(value: object, name: str) -> None:
    assert read_id({"_id": value}, ["_id"]) == (name, "_id")
