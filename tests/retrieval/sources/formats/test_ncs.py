"""Neural Code Search's score sheet."""

from __future__ import annotations

from pathlib import Path

import pytest

from retrieval.sources import GivenLabel, Problem, Query, Snippet
from retrieval.sources.formats.ncs import read_questions, read_score_sheet, read_search_task
from retrieval.sources.readers.lines import Malformed

HEADER = "No.,StackOverflow ID,NCS FRank,UNIF_android FRank\n"


@pytest.fixture
def sheet(tmp_path: Path) -> Path:
    return tmp_path / "sheet.csv"


def test_ranks_by_system(sheet: Path) -> None:
    sheet.write_text("\ufeff" + HEADER + "1,1109022,NF,1\r\n2,4616095, 17 ,31\n\n", encoding="utf-8")
    assert read_score_sheet(sheet) == {"NCS": [None, 17], "UNIF_android": [1, 31]}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "expected a header with columns named 'SYSTEM FRank', the file is empty"),
        ("a,b\n1,2\n", "line 1: expected a header with columns named 'SYSTEM FRank', found 'a,b'"),
        ("A FRank,A FRank\n1,2\n", "line 1: has two columns of the system 'A'"),
        (HEADER, "sheet.csv: has a header and no questions"),
        (HEADER + "1,2,NF\n", "line 2: expected 4 columns as in the header, found 3"),
        (HEADER + "1,2,NF,0\n", "line 2: expected a rank from 1 on or NF for 'UNIF_android', found '0'"),
        (HEADER + "1,2,,1\n", "line 2: expected a rank from 1 on or NF for 'NCS', found ''"),
        (HEADER + "1,2,1.5,1\n", "found '1.5'"),
    ],
)
def test_what_is_no_score_sheet_is_told_by_line(sheet: Path, text: str, message: str) -> None:
    sheet.write_text(text)
    with pytest.raises(Malformed) as refused:
        read_score_sheet(sheet)
    assert message in str(refused.value)


def test_questions_come_with_their_answers(tmp_path: Path) -> None:
    path = tmp_path / "questions.json"
    path.write_text('[{"stackoverflow_id": "1", "question": "q?", "answer": "a();", "answer_url": "u"}, {}]')
    question, answer, label, problem = read_questions(path, answers=True)
    assert (label, str(answer.origin)) == (GivenLabel("q?", "a();", 1), "u")  # type: ignore[union-attr]
    assert "record 2: has no" in str(problem)
    assert isinstance(question, Query)


@pytest.mark.real_data
def test_the_real_questions(real_data: Path, tmp_path: Path) -> None:
    path = real_data / "ncs" / "android_questions-60.json"
    assert [type(item) for item in read_questions(path)] == [Query] * 60
    assert [type(item) for item in read_questions(path, answers=True)] == [Query, Snippet, GivenLabel] * 60
    items = list(read_search_task(path, [], tmp_path))
    assert [type(item) for item in items[:60]] == [Query] * 60
    assert all(isinstance(item, Problem) and "is not there" in str(item) for item in items[60:])
