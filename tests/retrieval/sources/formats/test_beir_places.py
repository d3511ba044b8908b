"""Folders with a data set for each language: as the hub's configurations, as files, as folders."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from retrieval.sources import GivenLabel, Query, Snippet
from retrieval.sources.formats.beir import NotChosen, read_beir_folder
from retrieval.sources.formats.beir_places import BeirPlace, list_beir_configurations, place_of
from tests.retrieval.sources.readers.test_parquet import told, written

LANGUAGES = ("go", "python")


def rows(language: str) -> dict[str, list[dict[str, Any]]]:
    return {
        "corpus": [{"_id": "d1", "text": f"code in {language}"}],
        "queries": [{"_id": "q1", "text": f"how in {language}?"}],
        "qrels": [{"query-id": "q1", "corpus-id": "d1", "score": 1}],
    }


def as_coir(folder: Path) -> Path:
    """CoIR-Retrieval/CodeSearchNet on the hub."""
    for language in LANGUAGES:
        of = rows(language)
        files = {
            f"{language}-corpus/corpus-00000-of-00001.parquet": of["corpus"],
            f"{language}-queries/queries-00000-of-00001.parquet": of["queries"],
            f"{language}-qrels/test-00000-of-00001.parquet": of["qrels"],
        }
        written(folder, files)
    return folder


def as_converted(folder: Path) -> Path:
    """The same as the hub converts it."""
    for language in LANGUAGES:
        written(folder, {f"{language}-{part}/test/0000.parquet": of for part, of in rows(language).items()})
    return folder


def as_files(folder: Path) -> Path:
    folder.mkdir()
    for language in LANGUAGES:
        for part, of in rows(language).items():
            where = folder / f"{language}-qrels" if part == "qrels" else folder
            where.mkdir(exist_ok=True)
            name = "test.jsonl" if part == "qrels" else f"{language}-{part}.jsonl"
            (where / name).write_text("\n".join(map(json.dumps, of)))
    return folder


def as_folders(folder: Path) -> Path:
    for language in LANGUAGES:
        of = rows(language)
        (folder / language / "qrels").mkdir(parents=True)
        for name, part in (("corpus", "corpus"), ("queries", "queries"), ("qrels/test", "qrels")):
            (folder / language / f"{name}.jsonl").write_text("\n".join(map(json.dumps, of[part])))
    return folder


def as_splits(folder: Path) -> Path:
    """NanoCodeSearchNet on the hub: a split for each language in each of three configurations."""
    for language in LANGUAGES:
        written(
            folder,
            {f"{part}/{language}-00000-of-00001.parquet": of for part, of in rows(language).items()},
        )
    return folder


def as_converted_splits(folder: Path) -> Path:
    for language in LANGUAGES:
        written(folder, {f"{part}/{language}/0000.parquet": of for part, of in rows(language).items()})
    return folder


@pytest.mark.parametrize("layout", [as_splits, as_converted_splits])
def test_a_language_may_be_a_split(tmp_path: Path, layout: Any) -> None:
    folder = layout(tmp_path / "nano")
    assert list_beir_configurations(folder) == LANGUAGES
    assert list(read_beir_folder(folder, configuration="python")) == [
        Query("how in python?", "q1", "nano/python"),
        Snippet("code in python", "d1", "nano/python"),
        GivenLabel("how in python?", "code in python", 1),
    ]
    with pytest.raises(NotChosen, match="has a data set for each of go, python: choose one"):
        next(read_beir_folder(folder))


def test_the_splits_of_one_data_set_are_not_chosen_from(tmp_path: Path) -> None:
    folder = tmp_path / "one"
    for split in ("train", "test"):
        written(folder, {f"{part}/{split}.parquet": of for part, of in rows("any").items()})
    assert list_beir_configurations(folder) == ()
    assert place_of(folder) == BeirPlace(folder, "one")


@pytest.mark.parametrize("layout", [as_coir, as_converted, as_files, as_folders])
def test_one_language_is_chosen_and_the_others_stay_out(tmp_path: Path, layout: Any) -> None:
    folder = layout(tmp_path / "csn")
    assert list_beir_configurations(folder) == LANGUAGES
    for split in ("", "test"):
        assert list(read_beir_folder(folder, split, "python")) == [
            Query("how in python?", "q1", "csn/python"),
            Snippet("code in python", "d1", "csn/python"),
            GivenLabel("how in python?", "code in python", 1),
        ]
    assert "has no " in told(list(read_beir_folder(folder, "dev", "go")))[0]


@pytest.mark.parametrize("layout", [as_coir, as_folders])
def test_what_is_there_is_listed_where_one_must_be_chosen(tmp_path: Path, layout: Any) -> None:
    folder = layout(tmp_path / "csn")
    with pytest.raises(NotChosen, match="has a data set for each of go, python: choose one") as why:
        next(read_beir_folder(folder))
    assert why.value.there == LANGUAGES
    with pytest.raises(NotChosen, match="has no data set 'rust': choose one of go, python"):
        next(read_beir_folder(folder, configuration="rust"))


def test_a_language_by_two_names_refuses_the_folder(tmp_path: Path) -> None:
    folder = as_folders(as_files(tmp_path / "csn"))
    (item,) = read_beir_folder(folder, configuration="go")
    how = "leave the one that counts there, and move the other away"
    assert str(item) == f"{folder}: has go-queries.jsonl and go: {how}"


def test_labels_in_two_places_refuse_the_folder(tmp_path: Path) -> None:
    of = rows("any")
    files = {f"{part}/test.parquet": rows for part, rows in of.items()}
    folder = written(tmp_path / "one", files | {"data/train.parquet": of["qrels"]})
    (item,) = read_beir_folder(folder)
    assert str(item).startswith(f"{folder}: has qrels/test.parquet and data/train.parquet: leave")


def test_the_only_one_need_not_be_chosen(tmp_path: Path) -> None:
    files = {f"python-{part}/test-00000-of-00001.parquet": of for part, of in rows("python").items()}
    assert len(list(read_beir_folder(written(tmp_path / "csn", files)))) == 3


def test_one_data_set_has_nothing_to_choose(tmp_path: Path) -> None:
    folder = written(tmp_path, {f"{part}/test.parquet": of for part, of in rows("any").items()})
    assert place_of(folder) == BeirPlace(folder, folder.name)
    with pytest.raises(NotChosen, match="is a single data set, or none: there is no 'python'") as why:
        place_of(folder, "python")
    assert why.value.there == ()


def test_a_folder_that_is_called_like_a_part_may_hold_a_whole_data_set(tmp_path: Path) -> None:
    """CoIR's first layout: CodeSearchNet-python-queries-corpus, with the labels elsewhere."""
    of = rows("python")
    files = {
        f"csn-python-queries-corpus/data/{part}-00000-of-00001.parquet": of[part]
        for part in ("corpus", "queries")
    }
    folder = written(tmp_path, files)
    assert list_beir_configurations(folder) == ("csn-python-queries-corpus",)
    assert [type(item) for item in read_beir_folder(folder)] == [Query, Snippet]


def test_a_part_that_is_missing_is_told_by_its_name(tmp_path: Path) -> None:
    folder = as_coir(tmp_path / "csn")
    (folder / "go-queries" / "queries-00000-of-00001.parquet").unlink()
    assert list_beir_configurations(folder) == LANGUAGES
    said = told(list(read_beir_folder(folder, configuration="go")))
    assert said[0] == f"{folder}: has no go-queries.jsonl and no Parquet files of queries"


def test_many_names_are_cut(tmp_path: Path) -> None:
    for number in range(22):
        (tmp_path / f"l{number:02}").mkdir()
        (tmp_path / f"l{number:02}" / "corpus.jsonl").write_text("{}")
    with pytest.raises(NotChosen, match="l18, l19 and 2 more: choose one"):
        place_of(tmp_path)
