"""StaQC's pickles: plain data is read, whatever a pickle could do beyond it is refused unperformed."""

import os
import pickle
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.sources import GivenLabel, Problem, Query, Snippet
from retrieval.sources.formats import staqc
from retrieval.sources.formats.staqc import Hostile, load_safe_pickle, read_staqc_blocks

IDS = st.integers(0, 2**31 - 1)
KEYS = IDS | st.tuples(IDS, st.integers(0, 99))


def saved(folder: Path, value: object, name: str = "code.pickle") -> Path:
    path = folder / name
    path.write_bytes(pickle.dumps(value, 2))
    return path


class Evil:
    def __reduce__(self) -> Any:
        return os.mkdir, ("/tmp/this-was-run",)


@given(data=st.dictionaries(KEYS, st.text(), max_size=5), protocol=st.integers(1, 5))
def test_what_any_protocol_writes_is_read_back(data: dict[Any, str], protocol: int) -> None:
    assert load_safe_pickle(pickle.dumps(data, protocol)) == data


def test_python_2_wrote_bytes() -> None:
    assert load_safe_pickle(b"(dp0\n(I12\nI0\ntp1\nS'caf\\xc3\\xa9'\np2\ns.") == {(12, 0): "café"}


@pytest.mark.parametrize("protocol", range(6))
def test_a_pickle_that_calls_is_refused_by_the_instruction(protocol: int) -> None:
    with pytest.raises(Hostile, match="GLOBAL"):
        load_safe_pickle(pickle.dumps({(1, 0): Evil()}, protocol))
    assert not os.path.exists("/tmp/this-was-run")


@pytest.mark.parametrize(
    "content",
    [
        b"cos\nsystem\n(S'true'\ntR.",
        b"(S'true'\nios\nsystem\n.",
        b"\x82\x01.",  # a name in the table of extensions
        b"Pname\n.",  # a persistent object
        b"\x80\x04]\x94(h\x00h\x00e.",  # a list of itself
        b"(" + b"(" * 10 + b"t" * 11 + b".",
        b"\x80\x04K\x01\x85" + b"\x86".join([b"2"] * 3) + b".",
        b"\x80\x04\x8a\xff" + b"\x7f" * 255 + b".",  # a number of 2,040 bits
        b"I" + b"9" * 30 + b"\n.",
        b"\x80\x04r\xff\xff\xff\x7f.",  # a place in the memo far away, of nothing
        b"\x80\x04\x95\xff\xff\xff\xff\xff\xff\xff\x7f.",  # a frame longer than any file
        b"\x80\x04B\xff\xff\xff\x7f.",
        b"X\xff\xff\xff\xffabc.",
        b"",
        b"\x80\x63.",
        b"}",
    ],
)
def test_hostile_and_damaged_pickles_are_refused(content: bytes) -> None:
    with pytest.raises(pickle.UnpicklingError):
        load_safe_pickle(content)


@given(content=st.binary(max_size=60))
def test_no_bytes_do_more_than_fail(content: bytes) -> None:
    with suppress(pickle.UnpicklingError):
        load_safe_pickle(content)


def test_containers_without_end_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(staqc, "CONTAINERS_LIMIT", 100)
    with pytest.raises(Hostile, match="more than 100"):
        load_safe_pickle(b"}" * 200 + b".")


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
