"""CodeSearchNet's lines, in its own keys and in the Hugging Face copy's."""

import gzip
import json
import sys
from pathlib import Path

import pyarrow
import pytest
from django.core.management import call_command
from pyarrow import parquet

from retrieval.models import Member
from retrieval.sources import GivenLabel, Problem, Query, Snippet
from retrieval.sources.code.documentation import first_paragraph, worth_asking
from retrieval.sources.formats.codesearchnet import read_codesearchnet

LINE = {
    "repo": "a/b",
    "path": "m.py",
    "func_name": "C.f",
    "url": "https://github.com/a/b/blob/1/m.py#L1",
    "language": "python",
    "docstring": "Sort a list\n  of names.\n\nMore.",
    "code": "def f(x): ...",
}


def saved(path: Path, *rows: object) -> Path:
    text = "".join(json.dumps(row) + "\n" for row in rows)
    path.write_bytes(gzip.compress(text.encode()) if path.suffix == ".gz" else text.encode())
    return path


def test_functions_keep_repository_name_and_link(tmp_path: Path) -> None:
    items = list(read_codesearchnet([saved(tmp_path / "a.jsonl.gz", LINE)]))
    assert items == [Snippet("def f(x): ...", "a/b/m.py::C.f", LINE["url"])]


@pytest.mark.parametrize(
    ("name", "told", "partition"),
    [
        ("a.jsonl", {"partition": "valid"}, "valid"),
        ("a.jsonl", {"split_name": "validation"}, "valid"),
        ("python_test_0.jsonl.gz", {}, "test"),
        ("python_test_0.jsonl.gz", {"partition": "train"}, "train"),
        ("a.jsonl", {"partition": "some"}, ""),
        ("a.jsonl", {"partition": 1}, ""),
        ("test.jsonl", {}, ""),
    ],
)
def test_the_partition_is_the_records_or_the_files(
    tmp_path: Path, name: str, told: dict[str, object], partition: str
) -> None:
    snippet, query, _ = read_codesearchnet([saved(tmp_path / name, {**LINE, **told})], True)
    assert isinstance(snippet, Snippet) and isinstance(query, Query)
    assert (snippet.partition, query.partition) == (partition, partition)


@pytest.mark.django_db
def test_members_keep_their_partition(tmp_path: Path) -> None:
    path = saved(tmp_path / "a.jsonl", {**LINE, "partition": "test"})
    call_command("import", "codesearchnet", str(path), name="csn")
    assert list(Member.objects.values_list("partition", flat=True)) == ["test"]


def test_documentation_becomes_labelled_queries(tmp_path: Path) -> None:
    items = list(
        read_codesearchnet([saved(tmp_path / "a.jsonl", LINE, {**LINE, "docstring": "Too short"})], True)
    )
    assert items[1:3] == [
        Query("Sort a list of names.", "a/b/m.py::C.f", LINE["url"]),
        GivenLabel("Sort a list of names.", "def f(x): ...", 1),
    ]
    assert len(items) == 4


def test_the_licence_that_extract_writes_is_kept(tmp_path: Path) -> None:
    (item,) = read_codesearchnet([saved(tmp_path / "a.jsonl", {**LINE, "licence": "MIT"})])
    assert isinstance(item, Snippet)
    assert item.licence == "MIT"


def test_keys_of_the_hugging_face_copy(tmp_path: Path) -> None:
    row = {"func_code_string": "f", "repository_name": "a/b", "func_path_in_repository": "m.go"}
    saved(tmp_path / "go.jsonl", {**row, "language": "go", "func_name": "f"})
    assert list(read_codesearchnet([tmp_path])) == [Snippet("f", "a/b/m.go::f", "a/b/m.go")]


def test_parquet_of_the_hub_is_read(tmp_path: Path) -> None:
    row = {
        "repository_name": "a/b",
        "func_path_in_repository": "m.py",
        "func_name": "f",
        "whole_func_string": 'def f(x):\n    """Return the x itself."""\n    return x',
        "language": "python",
        "func_code_string": "def f(x):\n    return x",
        "func_code_tokens": ["def", "f"],
        "func_documentation_string": "Return the x itself.",
        "func_code_url": LINE["url"],
    }
    (tmp_path / "python").mkdir()
    path = tmp_path / "python/train-00000-of-00001.parquet"
    parquet.write_table(pyarrow.Table.from_pylist([row]), path)
    assert list(read_codesearchnet([tmp_path], True)) == [
        Snippet("def f(x):\n    return x", "a/b/m.py::f", LINE["url"]),
        Query("Return the x itself.", "a/b/m.py::f", LINE["url"]),
        GivenLabel("Return the x itself.", "def f(x):\n    return x", 1),
    ]


def test_parquet_without_pyarrow_says_how_to_install_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.parquet").touch()
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    (problem,) = read_codesearchnet([tmp_path])
    assert "pip install 'cosqa-workbench[parquet]'" in str(problem)


def test_a_folder_is_read_in_order_and_bad_records_are_told(tmp_path: Path) -> None:
    saved(tmp_path / "b.jsonl", {**LINE, "language": "cobol"}, {"repo": "a"}, LINE)
    saved(tmp_path / "a.jsonl.gz", {**LINE, "code": "first"})
    items = list(read_codesearchnet([tmp_path]))
    assert isinstance(items[0], Snippet)
    assert items[0].text == "first"
    told = [str(item) for item in items if isinstance(item, Problem)]
    assert "record 1: \"language\" is 'cobol'; expected one of go, java" in told[0]
    assert 'record 2: has no "code" or' in told[1]


def test_the_first_paragraph_ends_at_a_blank_line_or_a_tag() -> None:
    assert first_paragraph(" A\r\n b.\r\n\r\nMore") == "A b."
    assert first_paragraph("Adds two.\n@param x one") == "Adds two."
    assert first_paragraph("Adds two.\n:param x: one") == "Adds two."
    assert first_paragraph("@Override is: meant") == ""
    assert (worth_asking("two words"), worth_asking("these three words")) == (False, True)


def test_a_function_without_a_place_is_called_by_its_link_or_id(tmp_path: Path) -> None:
    bare = {key: LINE[key] for key in ("language", "code")}
    for more, name, read in (
        ({"url": LINE["url"], "idx": 3}, LINE["url"], "url"),
        ({"idx": 3, "func_name": "f"}, "3", "idx"),
        ({}, "0", "row numbers"),
        ({"path": "m.py", "func_name": "f"}, "m.py::f", "path and name"),
    ):
        (item,) = read_codesearchnet([saved(tmp_path / "a.jsonl", {**bare, **more})])
        assert isinstance(item, Snippet) and (item.source_id, item.id_from) == (name, read)


def test_no_function_takes_its_number_for_the_id_of_another(tmp_path: Path) -> None:
    bare = {key: LINE[key] for key in ("language", "code")}
    found = list(read_codesearchnet([saved(tmp_path / "a.jsonl", {**bare, "idx": 1}, bare)]))
    assert isinstance(found[1], Problem) and found[1].message.startswith("has no id (")
