"""The first bad line of a file is told by its number, and nothing grows with the file."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from retrieval.sources.readers import compression
from retrieval.sources.readers.lines import (
    Malformed,
    clip_text,
    csv_rows,
    parse_finite_number,
    read_numbered_lines,
)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "file"


def test_lines_are_numbered_and_a_mark_of_byte_order_is_passed_over(file: Path) -> None:
    file.write_bytes(b"\xef\xbb\xbfone\r\ntwo\n\nlast")
    assert list(read_numbered_lines(file)) == [(1, "one\r\n"), (2, "two\n"), (3, "\n"), (4, "last")]


def test_a_gzipped_file_is_known_by_its_first_bytes(file: Path) -> None:
    file.write_bytes(gzip.compress(b"\xef\xbb\xbfone\ntwo\n"))
    assert list(read_numbered_lines(file)) == [(1, "one\n"), (2, "two\n")]
    file.write_bytes(gzip.compress(b"one\n" * 1000)[:-12])
    with pytest.raises(Malformed, match="cannot be read"):
        list(read_numbered_lines(file))
    file.write_bytes(b"\x1f\x8bno")
    with pytest.raises(Malformed, match="cannot be read"):
        list(read_numbered_lines(file))


def test_what_unpacks_like_a_bomb_is_not_read(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compression, "SURELY_SMALL", 1000)
    file.write_bytes(gzip.compress(b"one\n" * 100_000))
    with pytest.raises(Malformed, match="unpacks to over 200 times"):
        list(read_numbered_lines(file))


def test_an_empty_file_has_no_lines(file: Path) -> None:
    file.touch()
    assert list(read_numbered_lines(file)) == []


def test_a_line_without_an_end_is_not_read_to_the_end() -> None:
    with pytest.raises(Malformed, match=r"/dev/zero, line 1: is longer than 100 characters"):
        list(read_numbered_lines(Path("/dev/zero"), limit=100))


def test_a_line_at_the_limit_is_read(file: Path) -> None:
    file.write_text("1234\n12345\n")
    assert next(read_numbered_lines(file, limit=5)) == (1, "1234\n")
    with pytest.raises(Malformed, match="line 2: is longer than 5"):
        list(read_numbered_lines(file, limit=5))


def test_other_bytes_are_told(file: Path) -> None:
    file.write_bytes(b"good\nb\xe4d\n")
    with pytest.raises(Malformed, match="line 2: has bytes that are not UTF-8"):
        list(read_numbered_lines(file))


@pytest.mark.parametrize(
    ("path", "reason"), [("", "Is a directory"), ("missing", "No such file"), ("a/b", "No such file")]
)
def test_what_cannot_be_opened_is_told(tmp_path: Path, path: str, reason: str) -> None:
    with pytest.raises(Malformed, match=f"cannot be read: {reason}"):
        list(read_numbered_lines(tmp_path / path))


def test_a_csv_row_has_the_number_of_its_last_line(file: Path) -> None:
    file.write_text('a,b\n\n"two\nlines",c\n,\nd,e\n')
    assert list(csv_rows(file, read_numbered_lines(file))) == [
        (1, ["a", "b"]),
        (4, ["two\nlines", "c"]),
        (6, ["d", "e"]),
    ]


@pytest.mark.parametrize("text", ['a,"b\nc\n', 'a,"b"c\n'])
def test_what_is_not_csv_is_told(file: Path, text: str) -> None:
    file.write_text(text)
    with pytest.raises(Malformed, match=r"line \d+: is not CSV: "):
        list(csv_rows(file, read_numbered_lines(file)))


def test_a_cell_may_be_as_long_as_a_text(file: Path) -> None:
    long = "x\n" * 70_000
    file.write_text(f'a,"{long}"\n')
    assert list(csv_rows(file, read_numbered_lines(file))) == [(70_001, ["a", long])]
    file.write_text(f'a,"{long * 40}"\n')
    with pytest.raises(Malformed, match="has a cell of more than 4,194,304 characters: shorten it, or close"):
        list(csv_rows(file, read_numbered_lines(file)))


@pytest.mark.parametrize(("written", "value"), [("1", 1), ("-0.5", -0.5), ("+3.", 3), (".5e-1", 0.05)])
def test_numbers(file: Path, written: str, value: float) -> None:
    assert parse_finite_number(written, file, 1, "score") == value


@pytest.mark.parametrize("written", ["", "x", "nan", "inf", "1e999", "1_0", "٣", "0x1", "1,5", "--1"])
def test_what_is_no_finite_number_is_told(file: Path, written: str) -> None:
    with pytest.raises(Malformed, match="line 7: expected a number as score, found "):
        parse_finite_number(written, file, 7, "score")


def test_a_number_beyond_its_bound_is_told(file: Path) -> None:
    with pytest.raises(Malformed, match="expected a number from -3 to 3 as relevance, found '4'"):
        parse_finite_number("4", file, 1, "relevance", 3)


def test_a_long_text_is_shown_in_part() -> None:
    assert clip_text("short\n") == r"'short\n'"
    assert len(clip_text("x" * 1000)) < 50
