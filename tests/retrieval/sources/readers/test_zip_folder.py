from __future__ import annotations

import stat
import zipfile
from collections.abc import Mapping
from pathlib import Path

import pytest

from retrieval.sources.code import archives
from retrieval.sources.readers import zip_folder
from retrieval.sources.readers.compression import SURELY_SMALL
from retrieval.sources.readers.zip_folder import BEIR, CODESEARCHNET, RELEASE, Layout, NotUnpacked, unpack_zip
from tests import full_disks

PARTS = ("corpus", "qrels", "queries")
FILES = {"corpus.jsonl": "{}", "queries.jsonl": "{}", "qrels/test.tsv": "q"}


def zipped(folder: Path, files: Mapping[str, str], packed: int = zipfile.ZIP_DEFLATED) -> Path:
    path = folder / "data.zip"
    with zipfile.ZipFile(path, "w", packed) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return path


def unpacked(folder: Path, files: Mapping[str, str], layout: Layout = BEIR) -> list[str]:
    into = folder / "into"
    unpack_zip(zipped(folder, files), into, layout)
    return sorted(path.relative_to(into).as_posix() for path in into.rglob("*") if path.is_file())


@pytest.mark.parametrize("around", ["", "scifact/", "a/b/c/"])
def test_the_files_of_a_format_are_found_with_folders_around_them(tmp_path: Path, around: str) -> None:
    others = {"README.md": "x", "__MACOSX/corpus.jsonl": "x", "corpus.jsonl.exe": "x", "qrels/x/y/z.tsv": "x"}
    files = {f"{around}{name}": content for name, content in {**FILES, **others}.items()}
    assert unpacked(tmp_path, files) == sorted(FILES)


@pytest.mark.parametrize("around", ["", "scifact/"])
def test_files_that_the_reader_of_beir_tells_of_are_there_too(tmp_path: Path, around: str) -> None:
    lost = {"qrels/train (1).xlsx": "x", "qrels/old/dev.tsv": "x", "qrels.txt": "x", "corpus-2.csv.gz": "x"}
    files = {f"{around}{name}": content for name, content in {**FILES, **lost}.items()}
    assert unpacked(tmp_path, files) == sorted([*FILES, *lost])


@pytest.mark.parametrize("around", ["", "mteb/", "a/b/c/"])
@pytest.mark.parametrize(
    "names",
    [
        [
            "corpus/corpus-00000-of-00002.parquet",
            "corpus/corpus-00001-of-00002.parquet",
            "data/test-00000-of-00001.parquet",
            "queries/queries-00000-of-00001.parquet",
        ],
        ["corpus/corpus/0000.parquet", "default/test/0000.parquet", "queries/queries/0000.parquet"],
        ["data/corpus-00000-of-00001.parquet", "data/queries-00000-of-00001.parquet", "qrels/test.tsv"],
        ["codebase.parquet", "pairs-test.parquet", "queries.parquet"],
    ],
)
def test_parquet_is_found_where_the_hub_has_it(tmp_path: Path, around: str, names: list[str]) -> None:
    files = dict.fromkeys([*(f"{around}{name}" for name in names), f"{around}data/x/y/z.parquet"], "x")
    assert unpacked(tmp_path, files) == names


@pytest.mark.parametrize("around", ["", "csn/"])
@pytest.mark.parametrize(
    "names",
    [
        [f"{language}-{part}/test-00000-of-00001.parquet" for language in ("go", "python") for part in PARTS],
        [f"{language}-{part}/test/0000.parquet" for language in ("c++", "c_sharp") for part in PARTS],
        ["go-corpus.jsonl", "go-qrels/test.tsv", "go-queries.jsonl.gz", "java-corpus.jsonl"],
        [f"{language}/{name}" for language in ("go", "python") for name in FILES],
        [f"{language}/{part}/test.parquet" for language in ("go", "python") for part in PARTS],
    ],
)
def test_data_sets_beside_each_other_are_all_unpacked(tmp_path: Path, around: str, names: list[str]) -> None:
    files = {f"{around}{name}": "x" for name in [*names, "README.md"]}
    assert unpacked(tmp_path, files) == sorted(names)


def test_the_folder_of_a_lone_data_set_is_kept_where_it_was_chosen(tmp_path: Path) -> None:
    path = zipped(tmp_path, {f"csn/python/{name}": content for name, content in FILES.items()})
    unpack_zip(path, tmp_path / "into", BEIR, "python")
    assert (tmp_path / "into" / "python" / "corpus.jsonl").is_file()
    unpack_zip(path, tmp_path / "other", BEIR)
    assert (tmp_path / "other" / "corpus.jsonl").is_file()
    parts = {f"python/python-{name}": content for name, content in FILES.items()}
    unpack_zip(zipped(tmp_path, parts), tmp_path / "parts", BEIR, "python")
    assert (tmp_path / "parts" / "python-corpus.jsonl").is_file()


def test_a_release_has_its_old_names_and_what_an_export_wrote(tmp_path: Path) -> None:
    names = ["test_agent_query.json", "codebase.json", "pairs_for_search.json", "workbench.json"]
    files = dict.fromkeys([*names, "provenance/labels.jsonl", "finetune/train.json", "notes.json"], "[]")
    assert unpacked(tmp_path, files, RELEASE) == sorted([*names, "provenance/labels.jsonl"])


def test_a_corpus_lies_in_several_folders(tmp_path: Path) -> None:
    names = [f"python/final/jsonl/{part}/python_{part}_0.jsonl.gz" for part in ("test", "train")]
    files = dict.fromkeys([*names, "python_licenses.pkl"], "{}")
    assert unpacked(tmp_path, files, CODESEARCHNET) == names


@pytest.mark.parametrize("name", ["a/b/c/d/e/f/g/deep.jsonl", "python (1)/train 0.jsonl.gz", "a/b.ndjson"])
def test_a_corpus_is_found_whatever_its_folders_are(tmp_path: Path, name: str) -> None:
    assert unpacked(tmp_path, {name: "{}"}, CODESEARCHNET) == [name]


def test_a_corpus_without_a_function_is_refused(tmp_path: Path) -> None:
    with pytest.raises(NotUnpacked, match=r"such as python_test_0.jsonl.gz, in it"):
        unpacked(tmp_path, {"python_licenses.pkl": "x"}, CODESEARCHNET)


@pytest.mark.parametrize("name", ["../corpus.jsonl", "/corpus.jsonl", "a/../../x", "C:\\x", "..\\x", "\\x"])
def test_a_path_that_leads_out_refuses_all(tmp_path: Path, name: str) -> None:
    with pytest.raises(NotUnpacked, match="leads out"):
        unpacked(tmp_path, {**FILES, name: "x"})
    assert not [path for path in tmp_path.rglob("*") if path.is_file() and path.name != "data.zip"]


def test_a_link_refuses_all(tmp_path: Path) -> None:
    path = zipped(tmp_path, FILES)
    with zipfile.ZipFile(path, "a") as archive:
        link = zipfile.ZipInfo("qrels/link.tsv")
        link.external_attr = (stat.S_IFLNK | 0o777) << 16
        archive.writestr(link, "/etc/passwd")
    with pytest.raises(NotUnpacked, match="a link"):
        unpack_zip(path, tmp_path / "into", BEIR)


def test_a_zip_bomb_is_refused_before_it_is_unpacked(tmp_path: Path) -> None:
    bomb = {**FILES, "corpus.jsonl": " " * (SURELY_SMALL + 1)}
    with pytest.raises(NotUnpacked, match="as a zip bomb does"):
        unpacked(tmp_path, bomb)
    assert not list((tmp_path / "into").iterdir())


def test_what_is_not_stated_is_counted_while_it_is_unpacked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(archives, "UNPACKED_LIMIT", 2**20)
    monkeypatch.setattr(zip_folder, "_refuse_bombs", lambda members: None)  # as if it had stated less
    with pytest.raises(NotUnpacked, match="unpacks to more than 1 MB"):
        unpacked(tmp_path, {**FILES, "queries.jsonl": "x" * (2**20 + 1)})


@pytest.mark.parametrize(
    ("files", "said"),
    [
        (
            {"data.csv": "x"},
            "expected corpus.jsonl, queries.jsonl and qrels/test.tsv, or the same as Parquet",
        ),
        ({"a/x/corpus.jsonl": "x", "b/y/corpus.jsonl": "x"}, "several data sets, in a/x and b/y"),
    ],
)
def test_what_is_wrong_says_what_is_expected(tmp_path: Path, files: dict[str, str], said: str) -> None:
    with pytest.raises(NotUnpacked, match=said):
        unpacked(tmp_path, files)


def test_what_is_no_zip_and_what_has_a_file_twice_is_refused(tmp_path: Path) -> None:
    (tmp_path / "no.zip").write_bytes(b"no zip")
    with pytest.raises(NotUnpacked, match="is not a readable zip"):
        unpack_zip(tmp_path / "no.zip", tmp_path / "one", BEIR)
    path = zipped(tmp_path, FILES)
    with zipfile.ZipFile(path, "a") as archive, pytest.warns(UserWarning, match="Duplicate"):
        archive.writestr("corpus.jsonl", "other")
    with pytest.raises(NotUnpacked, match="a file twice"):
        unpack_zip(path, tmp_path / "two", BEIR)


def test_a_member_without_a_name_is_passed_over(tmp_path: Path) -> None:
    path = zipped(tmp_path, {**FILES, "nameless": "x"}, zipfile.ZIP_STORED)
    path.write_bytes(path.read_bytes().replace(b"nameless", b"\0ameless"))
    unpack_zip(path, tmp_path / "into", BEIR)
    assert len([found for found in (tmp_path / "into").rglob("*") if found.is_file()]) == len(FILES)


def test_more_members_than_anybody_needs_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archives, "MEMBERS_LIMIT", 2)
    with pytest.raises(NotUnpacked, match="more than 2 members"):
        unpacked(tmp_path, FILES)


def test_a_full_disk_is_no_damaged_zip(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "some.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("data/corpus.jsonl", "{}")
        archive.writestr("data/queries.jsonl", "{}")
        archive.writestr("data/qrels/test.tsv", "a")
    monkeypatch.setattr(zip_folder, "_written", lambda *_: full_disks.fill_file())
    with pytest.raises(OSError, match="No space left"):
        unpack_zip(path, tmp_path / "there", BEIR)
