"""Whatever a file is packed or encoded with, its text is read, or one sentence says why not."""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
import sys
from collections.abc import Callable
from pathlib import Path

import pyarrow
import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.sources import Problem
from retrieval.sources.readers import compression
from retrieval.sources.readers.compression import UNREADABLE, open_text
from retrieval.sources.readers.json_stream import Element, stream_json_elements
from retrieval.sources.readers.lines import Malformed, read_numbered_lines
from retrieval.sources.readers.records import read_record_objects


def zstd(content: bytes) -> bytes:
    sink = pyarrow.BufferOutputStream()
    with pyarrow.CompressedOutputStream(sink, "zstd") as stream:
        stream.write(content)
    return bytes(sink.getvalue())


PACK: dict[str, Callable[[bytes], bytes]] = {
    ".gz": gzip.compress,
    ".bz2": bz2.compress,
    ".xz": lzma.compress,
    ".zst": zstd,
}


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32"])
@pytest.mark.parametrize("packed", ["", *PACK])
def test_records_are_read_from_every_packing_and_encoding(tmp_path: Path, packed: str, encoding: str) -> None:
    rows = [{"text": "é" * 1000}, {"text": "𝛼"}]
    content = "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows).encode(encoding)
    path = tmp_path / f"a.jsonl{packed}"
    path.write_bytes(PACK[packed](content) if packed else content)
    assert list(read_record_objects(path)) == [(1, rows[0]), (2, rows[1])]


@pytest.mark.parametrize("packed", PACK)
def test_packed_arrays_and_lines_are_known_by_their_first_bytes(tmp_path: Path, packed: str) -> None:
    path = tmp_path / "a.json"
    path.write_bytes(PACK[packed](b'[{"a": 1}]'))
    assert list(stream_json_elements(path)) == [Element(1, None, {"a": 1})]
    assert list(read_numbered_lines(path)) == [(1, '[{"a": 1}]')]


@pytest.mark.parametrize("packed", PACK)
def test_what_unpacks_like_a_bomb_is_read_to_the_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, packed: str
) -> None:
    monkeypatch.setattr(compression, "SURELY_SMALL", 1000)
    lines, array = tmp_path / f"a.jsonl{packed}", tmp_path / f"a.json{packed}"
    lines.write_bytes(PACK[packed](b'{"a": 1}\n' * 1_000_000))
    array.write_bytes(PACK[packed](b"[" + b"1," * 4_000_000 + b"1]"))
    assert "unpacks to over 200 times its size" in str(list(read_record_objects(lines))[-1])
    assert "unpacks to over 200 times its size" in str(list(stream_json_elements(array))[-1])
    with pytest.raises(Malformed, match="unpacks to over 200 times its size"):
        list(read_numbered_lines(lines))


@pytest.mark.parametrize("packed", PACK)
def test_a_cut_off_file_is_told(tmp_path: Path, packed: str) -> None:
    rows = "".join(f'{{"a": "{number * 7919}"}}\n' for number in range(50_000))
    path = tmp_path / f"a.jsonl{packed}"
    path.write_bytes(PACK[packed](rows.encode())[:-20])
    last = list(read_record_objects(path))[-1]
    assert isinstance(last, Problem)
    assert "cannot be read to its end" in last.message


def test_members_of_a_packed_file_are_read_one_after_another(tmp_path: Path) -> None:
    for packed, pack in PACK.items():
        path = tmp_path / f"a.jsonl{packed}"
        path.write_bytes(pack(b'{"a": 1}\n') + pack(b'{"a": 2}\n'))
        assert list(read_record_objects(path)) == [(1, {"a": 1}), (2, {"a": 2})]


def test_xz_that_wants_more_memory_than_is_given_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compression, "XZ_MEMORY_BYTES", 1_000_000)
    path = tmp_path / "a.jsonl.xz"
    path.write_bytes(lzma.compress(b'{"a": 1}\n'))
    (problem,) = read_record_objects(path)
    assert "cannot be read to its end: Memory usage limit exceeded" in str(problem)


def test_zstd_without_pyarrow_names_the_command_that_unpacks_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.jsonl.zst"
    path.write_bytes(zstd(b'{"a": 1}\n'))
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    (problem,) = read_record_objects(path)
    assert "it is packed with zstd: unpack it first, with zstd -d FILE" in str(problem)


def test_half_a_letter_of_utf_16_is_told(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes('{"a": 1}\n'.encode("utf-16") + b"x")
    assert "truncated data; convert the file to UTF-8" in str(list(read_record_objects(path))[-1])


@given(content=st.binary(max_size=200), packed=st.sampled_from(["", *PACK]), whole=st.booleans())
def test_any_bytes_are_text_or_unreadable(
    tmp_path_factory: pytest.TempPathFactory, content: bytes, packed: str, whole: bool
) -> None:
    path = tmp_path_factory.mktemp("any") / f"a{packed}"
    path.write_bytes(PACK[packed](content) if packed and whole else content)
    try:
        with open_text(path) as (stream, *_):
            read = stream.read()
    except UNREADABLE:
        return
    assert len(read) <= max(200, len(content))
