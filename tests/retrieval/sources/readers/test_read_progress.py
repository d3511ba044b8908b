"""Bytes read of what is expected: each source says beforehand what it reads, and all of it is counted."""

from __future__ import annotations

import gzip
import hashlib
import json
import zipfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

from retrieval.sources.code import places
from retrieval.sources.formats import beir, codesearchnet, cosqa_plus, ncs, table
from retrieval.sources.readers.read_progress import (
    Meter,
    add_read_bytes,
    expect_file_read,
    finish_file_count,
    meter_bytes_read,
    open_metered_file,
)
from retrieval.threads import prefetch_parts
from tests.retrieval.sources.code.test_archives import tarred
from tests.retrieval.sources.readers.test_parquet import LAYOUTS, written

CODE = "def f(x):\n    return sorted(x)\n"
NOISE = [hashlib.sha512(bytes([n % 256, n // 256])).hexdigest() for n in range(3000)]
ROWS = [{"query": f"sort {n}", "code": f"{CODE}# {noise}", "label": 1} for n, noise in enumerate(NOISE)]


def json_lines(path: Path, rows: Iterable[dict[str, Any]] = ROWS) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    text = "".join(f"{json.dumps(row)}\n" for row in rows).encode()
    path.write_bytes(gzip.compress(text) if path.suffix == ".gz" else text)
    return path


def release(folder: Path, *names: str) -> cosqa_plus.Release:
    for name in names:
        (folder / f"{name}.json").write_text(json.dumps(ROWS))
    return cosqa_plus.release_in(folder)


def beir_folder(folder: Path) -> Path:
    json_lines(
        folder / "corpus.jsonl.gz", ({"_id": f"d{n}", "text": row["code"]} for n, row in enumerate(ROWS))
    )
    json_lines(
        folder / "queries.jsonl", ({"_id": f"q{n}", "text": row["query"]} for n, row in enumerate(ROWS))
    )
    judged = ({"query-id": f"q{n}", "corpus-id": f"d{n}", "score": 1} for n in range(3000))
    json_lines(folder / "qrels" / "test.jsonl", judged)
    return folder


def archive(path: Path) -> Path:
    with zipfile.ZipFile(path, "w") as packed:
        for number in range(20):
            packed.writestr(f"m{number}.py", CODE)
        packed.writestr("picture.png", "x" * 2**17)
    return path


def archives(*paths: Path) -> Iterable[object]:
    places.expect_archives(paths)
    for path in paths:
        yield from places.iterate_source_files(path)


SOURCES: dict[str, Callable[[Path], Iterable[object]]] = {
    "table": lambda f: table.read_table_rows(
        json_lines(f / "t.jsonl"), table.Columns("query", "code", "label")
    ),
    "packed": lambda f: table.read_table_rows(
        json_lines(f / "t.jsonl.gz"), table.Columns("query", "code", "label")
    ),
    "release": lambda f: cosqa_plus.read_cosqa_plus(release(f, "query", "codebase", "pairs")),
    "pairs alone": lambda f: cosqa_plus.read_cosqa_plus(release(f, "pairs")),
    "beir": lambda f: beir.read_beir_folder(beir_folder(f)),
    "parquet": lambda f: beir.read_beir_folder(written(f, LAYOUTS["default configuration"])),
    "questions": lambda f: ncs.read_questions(json_lines(f / "q.jsonl")),
    "functions": lambda f: codesearchnet.read_codesearchnet(
        [json_lines(f / "a.jsonl"), json_lines(f / "b.jsonl.gz")]
    ),
    "archives": lambda f: archives(
        archive(f / "a.whl"), tarred(f / "b.tar.gz", ("m.py", CODE), ("x", "x" * 9999))
    ),
}


@pytest.mark.parametrize("source", SOURCES)
def test_each_source_says_what_it_reads_and_reads_it_to_the_end(tmp_path: Path, source: str) -> None:
    shares = list[float]()
    with meter_bytes_read() as meter:
        for _ in SOURCES[source](tmp_path):
            assert meter.share is not None
            shares.append(meter.share)
    assert meter.share == 1 and meter.read == meter.expected
    assert shares == sorted(shares) and shares[0] < 1


def test_nothing_is_known_of_folders_and_of_what_nobody_expected(tmp_path: Path) -> None:
    file = json_lines(tmp_path / "m.py")
    with meter_bytes_read() as meter:
        assert list(archives(tmp_path, archive(tmp_path / "a.zip")))
        with open_metered_file(file) as stream:
            assert stream.read() == file.read_bytes()
        add_read_bytes(file, 5)
        finish_file_count(file)
        expect_file_read(tmp_path / "nowhere")
    assert (meter.share, meter.read) == (None, 0)
    add_read_bytes(file, 5)  # outside of any meter
    assert meter.read == 0


def test_a_file_that_is_read_more_often_than_expected_counts_once(tmp_path: Path) -> None:
    file = json_lines(tmp_path / "m.jsonl")
    with meter_bytes_read() as meter:
        expect_file_read(file)
        for _ in range(2):
            with open_metered_file(file) as stream:
                stream.read()
    assert meter == Meter(file.stat().st_size, file.stat().st_size, meter.left)


def test_what_a_thread_reads_ahead_is_counted_too(tmp_path: Path) -> None:
    file = json_lines(tmp_path / "m.jsonl")
    with meter_bytes_read() as meter:
        assert list(prefetch_parts(iter(table.read_table_rows(file, table.Columns("query")))))
    assert meter.share == 1
