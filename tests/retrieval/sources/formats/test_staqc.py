"""StaQC's pickles of code and titles."""

import pickle
from pathlib import Path
from typing import Any

import pytest

from retrieval.sources import GivenLabel, Problem, Query, Snippet
from retrieval.sources.formats import staqc
from retrieval.sources.formats.staqc import read_staqc_blocks


def saved(folder: Path, value: object, name: str = "code.pickle") -> Path:
    path = folder / name
    path.write_bytes(pickle.dumps(value, 2))
    return path


def test_numbers_that_python_2_wrote_as_long_are_read(tmp_path: Path) -> None:
    path = tmp_path / "long.pickle"
    path.write_bytes(
        b"\x80\x02}(\x8a\x03\x99\x93YX\x08\x00\x00\x00print(1)L17335003L\nX\x05\x00\x00\x00x = 1u."
    )
    assert [item.source_id for item in read_staqc_blocks(path) if isinstance(item, Snippet)] == [
        "5870489",
        "17335003",
    ]


@pytest.mark.parametrize("title", ["", " ", None, 5])
def test_a_title_that_is_no_text_costs_its_label(tmp_path: Path, title: object) -> None:
    titles = saved(tmp_path, {7: title}, "titles.pickle")
    snippet, problem = read_staqc_blocks(saved(tmp_path, {(7, 0): "a = 1"}), titles)
    assert isinstance(snippet, Snippet)
    assert isinstance(problem, Problem)
    assert problem.message == f"expected a title for the question 7, found {str(title)!r}"
    assert problem.costs_labels


def test_code_with_its_questions(tmp_path: Path) -> None:
    code = saved(tmp_path, {(7, 0): "a = 1", (8, 0): "b = 2", (9, 0): " ", "x": "c"})
    titles = saved(tmp_path, {7: "How to set a?"}, "titles.pickle")
    items = list(read_staqc_blocks(code, titles))
    origin = "https://stackoverflow.com/questions/"
    assert items[:4] == [
        Snippet("a = 1", "7-0", origin + "7", staqc.LICENCE),
        Query("How to set a?", "7", origin + "7", staqc.LICENCE),
        GivenLabel("How to set a?", "a = 1", 1),
        Snippet("b = 2", "8-0", origin + "8", staqc.LICENCE),
    ]
    assert [item.record for item in items[4:] if isinstance(item, Problem)] == [3, 4]


def test_a_file_that_is_none_is_one_problem(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert [type(item) for item in read_staqc_blocks(tmp_path / "nowhere")] == [Problem]
    assert "expected a dict, found tuple" in str(*read_staqc_blocks(saved(tmp_path, (1, 2))))
    monkeypatch.setattr(staqc, "FILE_LIMIT", 10)
    assert "longer than 10 bytes" in str(*read_staqc_blocks(saved(tmp_path, {1: "a" * 50})))


def test_a_file_of_titles_that_is_none_is_told_by_its_own_name(tmp_path: Path) -> None:
    titles = tmp_path / "titles.pickle"
    titles.write_bytes(b";")
    problem = next(read_staqc_blocks(saved(tmp_path, {1: "a"}), titles))
    assert isinstance(problem, Problem)
    assert (problem.file, problem.message) == (
        str(titles),
        "cannot be read: is a damaged pickle: KeyError: 59",
    )


def test_code_that_holds_itself_is_told_by_its_type(tmp_path: Path) -> None:
    loop: dict[Any, Any] = {}
    loop[1] = loop
    assert "found int and dict" in str(*read_staqc_blocks(saved(tmp_path, loop)))
