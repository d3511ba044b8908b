"""The screener's table: written for any spreadsheet, read back whatever that made of it."""

from __future__ import annotations

import csv
import io
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.agents.screener import ScreenerVerdict
from annotation.builds.pipeline import screener_sheet
from annotation.llm.exchange import ExchangeProblem, ReplyLine

ID, OTHER = "a" * 64, "b" * 64
HEAD = "id,query,code,verdict,explanation\n"


def read(text: str | bytes) -> list[ReplyLine | ExchangeProblem]:
    return list(screener_sheet.read_sheet(io.BytesIO(text.encode() if isinstance(text, str) else text)))


def written(*rows: tuple[str, str, str]) -> bytes:
    stream = io.BytesIO()
    assert screener_sheet.write_sheet(stream, rows) == len(rows)
    return stream.getvalue()


def test_what_is_written_comes_back_once_it_is_filled_in() -> None:
    table = list(csv.reader(io.StringIO(written((ID, "sort", "def f():\n    pass")).decode("utf-8-sig"))))
    assert table == [
        ["id", "query", "code", "verdict", "explanation"],
        [ID, "sort", "def f():\n    pass", "", ""],
    ]
    out = io.StringIO()
    csv.writer(out).writerows([table[0], [*table[1][:3], "no match", "it sorts nothing"]])
    [line] = read(out.getvalue())
    assert isinstance(line, ReplyLine)
    assert json.loads(line.text) == {"explanation": "it sorts nothing", "verdict": 0}
    assert ScreenerVerdict.of_reply(line.text).verdict == 0


@pytest.mark.parametrize(
    ("said", "verdict"),
    [("1", 1), ("Match", 1), ("0", 0), ("no match", 0), ("0.5", 0.5), ("0,5", 0.5), ("UNCLEAR", 0.5)],
)
def test_a_verdict_is_a_number_or_a_word(said: str, verdict: float) -> None:
    [line] = read(f'{HEAD}{ID},q,c,"{said}",so\n')
    assert isinstance(line, ReplyLine)
    assert json.loads(line.text)["verdict"] == verdict


def test_semicolons_and_columns_in_another_order_are_read() -> None:
    [line] = read(f"verdict;explanation;id\n1;so;{ID}\n")
    assert isinstance(line, ReplyLine)
    assert line.id == ID


def test_rows_without_an_answer_are_left_out_and_bad_ones_told_by_their_first_line() -> None:
    rows = (
        f'{HEAD}{ID},q,"a\nb\nc",,\n{ID},q,"a\nb",maybe,so\nx,q,c,1,so\n{OTHER},q,c,1,so\n{OTHER},q,c,0,so\n'
    )
    found = read(rows)
    # The header is line 1, the first row has lines 2 to 4, the second 5 and 6.
    assert [one.line for one in found] == [5, 7, 8, 9]
    assert [isinstance(one, ReplyLine) for one in found] == [False, False, True, False]
    assert "one of 1, match, 0, no match, 0.5, unclear; it is 'maybe'" in str(found[0])
    assert "leave that column as it was" in str(found[1])
    assert "a second answer to the row of line 8" in str(found[3])


def test_a_table_that_is_not_utf_8_is_told_and_not_guessed() -> None:
    [problem] = read(f"{HEAD}{ID},q,c,1,gr".encode() + b"\xfc\xdfe\n")
    assert "CSV UTF-8" in str(problem)


def test_a_table_without_its_columns_says_which() -> None:
    [problem] = read("id;verdict\n")
    assert str(problem) == "line 1: the header has no column explanation"


def test_no_cell_is_a_formula_and_none_is_cut_by_a_spreadsheet() -> None:
    _, row = csv.reader(io.StringIO(written((ID, "=1+1", "x" * 40_000)).decode("utf-8-sig")))
    assert row[1] == "'=1+1"
    assert row[2] == screener_sheet.TOO_LONG


def test_a_table_is_told_from_lines() -> None:
    assert screener_sheet.is_sheet(io.BytesIO(written()))
    assert not screener_sheet.is_sheet(io.BytesIO(b'{"id": "verdict"}\n'))
    assert not screener_sheet.is_sheet(io.BytesIO(b""))


@given(st.binary(max_size=300))
def test_any_bytes_are_read_or_told(content: bytes) -> None:
    screener_sheet.is_sheet(io.BytesIO(content))
    for found in read(HEAD.encode() + content):
        assert str(found) if isinstance(found, ExchangeProblem) else ScreenerVerdict | None
