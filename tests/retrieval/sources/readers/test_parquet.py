"""Folders of Parquet as the hub has them: in parts, by its default configuration, converted, and our own."""

from __future__ import annotations

import struct
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import parquet

from retrieval.sources import GivenLabel, Item, Problem, Query, Snippet
from retrieval.sources.formats.beir import read_beir_folder
from retrieval.sources.readers import parquet as reading
from retrieval.sources.readers.compression import SURELY_SMALL

QUERIES = [{"_id": "q1", "text": "sort a list"}, {"_id": "q2", "text": "read a file"}]
CORPUS = [
    {"_id": "d1", "title": "", "text": "def f(x):\n    return sorted(x)", "metadata": {"a": 1}},
    {"_id": "d2", "title": "T", "text": "def g(x):\n    return x", "metadata": {"a": 2}},
]
TEST = [{"query-id": "q1", "corpus-id": "d1", "score": 1}, {"query-id": "q1", "corpus-id": "d2", "score": 0}]
DEV = [{"query-id": "q2", "corpus-id": "d2", "score": 1.0}]
PAIRS = {
    "test": [
        GivenLabel("sort a list", "def f(x):\n    return sorted(x)", 1),
        GivenLabel("sort a list", "T\ndef g(x):\n    return x", 0),
    ],
    "dev": [GivenLabel("read a file", "T\ndef g(x):\n    return x", 1)],
}
IN_PARTS: dict[str, list[dict[str, Any]]] = {
    "corpus/corpus-00000-of-00002.parquet": CORPUS[:1],
    "corpus/corpus-00001-of-00002.parquet": CORPUS[1:],
    "queries/queries-00000-of-00001.parquet": QUERIES,
}
LAYOUTS: dict[str, dict[str, list[dict[str, Any]]]] = {
    "default configuration": {
        **IN_PARTS,
        "data/test-00000-of-00001.parquet": TEST,
        "data/dev-00000-of-00001.parquet": DEV,
    },
    "qrels, and texts by split": {
        "corpus/test-00000-of-00001.parquet": CORPUS,
        "queries/test-00000-of-00001.parquet": QUERIES,
        "qrels/test-00000-of-00002.parquet": TEST[:1],
        "qrels/test-00001-of-00002.parquet": TEST[1:],
        "qrels/dev-00000-of-00001.parquet": DEV,
    },
    "converted": {
        "corpus/corpus/0000.parquet": CORPUS[:1],
        "corpus/corpus/0001.parquet": CORPUS[1:],
        "queries/queries/0000.parquet": QUERIES,
        "default/test/0000.parquet": TEST,
        "default/dev/0000.parquet": DEV,
    },
    "one configuration": {
        "data/corpus-00000-of-00001.parquet": CORPUS,
        "data/queries-00000-of-00001.parquet": QUERIES,
        "data/test-00000-of-00001.parquet": TEST,
        "data/dev-00000-of-00001.parquet": DEV,
    },
    "flat": {
        "corpus.parquet": CORPUS,
        "queries.parquet": QUERIES,
        "qrels/test.parquet": TEST,
        "qrels/dev.parquet": DEV,
    },
}


def written(folder: Path, files: Mapping[str, Sequence[Mapping[str, Any]]]) -> Path:
    for name, rows in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        parquet.write_table(pyarrow.Table.from_pylist(list(rows)), path)
    return folder


def labels(items: list[Item]) -> list[Item]:
    return [item for item in items if isinstance(item, GivenLabel)]


def told(items: list[Item]) -> list[str]:
    return [str(item) for item in items if isinstance(item, Problem)]


@pytest.mark.parametrize("layout", LAYOUTS)
def test_each_layout_gives_texts_and_labels(tmp_path: Path, layout: str) -> None:
    folder = written(tmp_path / "small", LAYOUTS[layout])
    items = list(read_beir_folder(folder))
    assert not told(items)
    assert items[:4] == [
        Query("sort a list", "q1", "small"),
        Query("read a file", "q2", "small"),
        Snippet("def f(x):\n    return sorted(x)", "d1", "small"),
        Snippet("T\ndef g(x):\n    return x", "d2", "small"),
    ]
    assert labels(items) == PAIRS["dev"] + PAIRS["test"]
    for split, wanted in PAIRS.items():
        assert labels(list(read_beir_folder(folder, split))) == wanted


def test_a_part_that_is_not_there_is_told(tmp_path: Path) -> None:
    files = {name: rows for name, rows in LAYOUTS["default configuration"].items() if "00001-of" not in name}
    items = list(read_beir_folder(written(tmp_path, files)))
    assert "has 1 of 2 parts: corpus-00001-of-00002.parquet is not there" in told(items)[0]
    assert "there is no document 'd2' in the corpus" in told(items)[1]


def test_ids_may_be_numbers_and_a_licence_is_kept(tmp_path: Path) -> None:
    files: dict[str, list[dict[str, Any]]] = {
        "corpus.parquet": [{"id": 7, "text": "def f(): pass", "license": "mit"}],
        "queries.parquet": [{"id": 3, "text": "what?"}],
        "qrels/test.parquet": [{"query-id": "3", "corpus-id": "7", "score": 2.0}],
    }
    items = list(read_beir_folder(written(tmp_path, files)))
    assert items[1:] == [
        Snippet("def f(): pass", "7", tmp_path.name, "mit"),
        GivenLabel("what?", "def f(): pass", 2, "graded"),
    ]


def test_without_its_library_one_line_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = written(tmp_path, LAYOUTS["flat"])
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    assert told(list(read_beir_folder(folder))) == [
        f"{folder}: Parquet files need pyarrow: pip install 'cosqa-workbench[parquet]'"
    ]


def test_what_is_no_parquet_or_has_no_text_is_told(tmp_path: Path) -> None:
    folder = written(tmp_path, {**LAYOUTS["flat"], "queries.parquet": [{"_id": "q1", "text": None}]})
    (folder / "corpus.parquet").write_bytes(b"PAR1 is not enough")
    first, second = told(list(read_beir_folder(folder)))[:2]
    assert first.endswith('queries.parquet, record 1: has no text: "text" is null')
    assert "corpus.parquet: is not readable Parquet: " in second


def test_a_long_text_is_skipped_and_a_bomb_is_not_unpacked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "RECORD_LIMIT", 20)
    path = written(tmp_path, {"one.parquet": [{"text": "x" * 21}, {"text": "y"}]}) / "one.parquet"
    problem, row = reading.read_parquet_rows(path, ["text"])
    assert (str(problem), row) == (
        f"{path}, record 1: is longer than 20 characters and is skipped",
        (2, {"text": "y"}),
    )
    bomb = written(tmp_path, {"bomb.parquet": [{"text": "x" * 2**20}] * 70}) / "bomb.parquet"
    assert bomb.stat().st_size * 200 < SURELY_SMALL
    assert "unpacks to over 200 times its size" in str(next(reading.read_parquet_rows(bomb, ["text"])))


def shared_text(path: Path, length: int, rows: int) -> Path:
    """A file of a few KB in which all rows share one text."""
    text = pyarrow.DictionaryArray.from_arrays(pyarrow.array([0] * rows, pyarrow.int32()), ["a" * length])
    table = pyarrow.table({"text": text, "_id": [str(row) for row in range(rows)]})
    parquet.write_table(table, path, compression="zstd", dictionary_pagesize_limit=2**30, store_schema=False)
    return path


def peak_megabytes(path: Path, columns: str) -> tuple[int, str]:
    """Memory that reading the file took in a process of its own, and the last thing that came."""
    program = (
        "import resource, sys; from pathlib import Path; import pyarrow.parquet\n"
        "from retrieval.sources.readers.parquet import read_parquet_rows\n"
        "peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024\n"
        "before, last = peak(), ''\n"
        "for row in read_parquet_rows(Path(sys.argv[1]), sys.argv[2].split()): last = str(row)[:300]\n"
        "print(peak() - before, last)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(path), columns],
        check=True,
        capture_output=True,
        text=True,
        timeout=120,
    )
    peak, _, last = done.stdout.partition(" ")
    return int(peak), last


def test_a_text_that_all_rows_share_is_no_bomb_of_memory(tmp_path: Path) -> None:
    """100 rows of 20 MB in 2 KB: 3.2 GB when every row got a text of its own."""
    bomb = shared_text(tmp_path / "bomb.parquet", 20_000_000, 100)
    assert bomb.stat().st_size < 10_000
    peak, last = peak_megabytes(bomb, "text _id")
    assert "unpacks to over 200 times its size" in last
    assert peak < 300


def test_lists_and_structs_of_one_text_are_counted_too(tmp_path: Path) -> None:
    texts = pyarrow.array([["a" * 1_000_000] * 100], pyarrow.list_(pyarrow.string()))
    structs = pyarrow.array([{"a": "b" * 80_000_000}], pyarrow.struct([("a", pyarrow.string())]))
    for name, column in (("lists", texts), ("structs", structs)):
        path = tmp_path / f"{name}.parquet"
        parquet.write_table(pyarrow.table({"text": column}), path, compression="zstd")
        (problem,) = reading.read_parquet_rows(path, ["text"])
        assert "unpacks to over 200 times its size" in str(problem)


def test_rows_after_a_text_that_is_too_long_are_read_from_a_large_batch(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "SURELY_SMALL", 10_000)
    monkeypatch.setattr(reading, "PACKED_AT_MOST", 10_000)
    monkeypatch.setattr(reading, "RECORD_LIMIT", 1_000)
    rows: list[dict[str, Any]] = [{"text": "x" * 20_000}, {"text": "y"}, {"text": None}]
    path = written(tmp_path, {"one.parquet": rows}) / "one.parquet"
    problem, *others = reading.read_parquet_rows(path, ["text"])
    assert str(problem).endswith("record 1: is longer than 1,000 characters and is skipped")
    assert others == [(2, {"text": "y"}), (3, {"text": None})]


@given(
    rows=st.lists(
        st.fixed_dictionaries(
            {
                "text": st.none() | st.text(max_size=5),
                "tokens": st.none() | st.lists(st.none() | st.text(max_size=3), max_size=3),
                "meta": st.none() | st.fixed_dictionaries({"a": st.none() | st.text(max_size=3)}),
                "score": st.none() | st.integers(-5, 5),
            }
        ),
        min_size=1,
        max_size=120,
    )
)
def test_what_is_written_is_read(
    tmp_path_factory: pytest.TempPathFactory, rows: list[dict[str, Any]]
) -> None:
    kinds = {
        "text": pyarrow.string(),
        "tokens": pyarrow.list_(pyarrow.string()),
        "meta": pyarrow.struct([("a", pyarrow.string())]),
        "score": pyarrow.int64(),
    }
    path = tmp_path_factory.mktemp("rows") / "one.parquet"
    parquet.write_table(pyarrow.Table.from_pylist(rows, pyarrow.schema(list(kinds.items()))), path)
    assert list(reading.read_parquet_rows(path, list(kinds))) == list(enumerate(rows, 1))


def test_bytes_that_are_no_text_cost_their_row_alone(tmp_path: Path) -> None:
    ends = pyarrow.py_buffer(struct.pack("<4i", 0, 1, 2, 3))
    column = pyarrow.StringArray.from_buffers(3, ends, pyarrow.py_buffer(b"a\xffb"))
    parquet.write_table(pyarrow.table({"text": column}), tmp_path / "a.parquet")
    first, bad, last = reading.read_parquet_rows(tmp_path / "a.parquet", ["text"])
    assert (first, last) == ((1, {"text": "a"}), (3, {"text": "b"}))
    assert isinstance(bad, Problem) and (bad.record, bad.message) == (2, "has bytes that are not UTF-8")


def test_a_name_of_a_column_that_is_no_text_is_told(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    parquet.write_table(pyarrow.table({"text": ["a"]}), path)
    path.write_bytes(path.read_bytes().replace(b"text", b"te\xfft"))
    (problem,) = reading.read_parquet_rows(path, ["text"])
    assert "is not readable Parquet: 'utf-8' codec can't decode" in str(problem)
