"""Spec files: what they may say, and what is told of those that describe no encoder."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from retrieval.encoders.dense.specs import (
    Spec,
    WrongSpec,
    find_spec_files,
    parse_encoder_spec,
    read_encoder_spec,
)

TOML = """
hf_id = "intfloat/e5-base-v2"
revision = "1c644c92ad3ba1efdad3f1451a637716616a20e8"
pooling = "mean"
query_prefix = "query: "
passage_prefix = "passage: "
passage_max_tokens = 256
"""


def written(folder: Path, text: str, name: str = "mine.toml") -> Path:
    path = folder / name
    path.write_text(text)
    return path


def fault(**told: Any) -> str:
    """What is said of a spec with these values."""
    with pytest.raises(WrongSpec) as found:
        parse_encoder_spec({"name": "mine", "hf_id": "a/b", "pooling": "mean", **told}, "mine.toml")
    return str(found.value)


def test_a_file_is_called_as_the_encoder_and_says_the_rest(tmp_path: Path) -> None:
    spec = read_encoder_spec(written(tmp_path, TOML))
    assert (spec.name, spec.hf_id, spec.pooling) == ("mine", "intfloat/e5-base-v2", "mean")
    assert spec.prefixes == {"query": "query: ", "snippet": "passage: "}
    assert spec.lengths == {"query": 128, "snippet": 256}
    assert spec.normalise and not spec.trust_remote_code


def test_toml_and_json_say_the_same(tmp_path: Path) -> None:
    told = {"name": "mine", "folder": "model", "pooling": "cls"}
    found = read_encoder_spec(written(tmp_path, json.dumps(told), "other.json"))
    same = read_encoder_spec(written(tmp_path, 'name = "mine"\nfolder = "model"\npooling = "cls"\n'))
    assert found == same
    assert found.folder == str(tmp_path / "model")  # from where the file lies


def test_the_place_of_a_folder_and_a_stated_main_decide_nothing() -> None:
    here, there = (Spec(name="mine", folder=folder, pooling="cls") for folder in ("/a", "/b"))
    assert here.canonical() == there.canonical()
    plain, stated = (Spec(name="m", hf_id="a/b", revision=one, pooling="cls") for one in ("", "main"))
    assert plain.canonical() == stated.canonical()
    assert Spec(name="m", hf_id="a/b", revision="v2", pooling="cls").canonical() != plain.canonical()


@pytest.mark.parametrize(
    ("told", "words"),
    [
        ({"pooling": "average"}, "pooling: Input should be 'cls', 'mean', 'last', 'eos'"),
        ({"prefix": "query: "}, "prefix: no such key"),
        ({"folder": "/models/mine"}, "name either hf_id"),
        ({"hf_id": ""}, "name either hf_id"),
        ({"hf_id": "", "folder": "/m", "revision": "v2"}, "a folder is known by its content"),
        ({"normalise": False}, "normalise: scores are cosines here"),
        ({"trust_remote_code": True}, "trust_remote_code: code that comes with a model is never run"),
        ({"query_max_tokens": 0}, "query_max_tokens: Input should be greater than or equal to 4"),
        ({"query_max_tokens": "128"}, "query_max_tokens: Input should be a valid integer"),
        ({"query_prefix": "a\x00b"}, "query_prefix: has a NUL character"),
        ({"query_prefix": "a\ud800b"}, "query_prefix: Input should be a valid string"),
        ({"name": "My Model"}, "name: 1 to 40 of a-z"),
        ({"name": "a+b"}, "name: 1 to 40 of a-z"),
    ],
)
def test_what_is_wrong_is_told_by_its_key(told: dict[str, Any], words: str) -> None:
    said = fault(**told)
    assert said.startswith("mine.toml: ") and words in said


def test_what_is_missing_is_told() -> None:
    with pytest.raises(WrongSpec, match="pooling: Field required"):
        parse_encoder_spec({"name": "mine", "hf_id": "a/b"}, "mine.toml")


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("mine.toml", "pooling = ", "is no TOML"),
        ("mine.json", "{", "is no JSON"),
        ("mine.json", "[" * 60_000, "is no JSON .it is nested too deeply"),
        ("mine.toml", f"a = {'[' * 60_000}", "is no TOML .it is nested too deeply"),
        ("mine.json", "[1]", "expected keys and values"),
        ("mine.yaml", "pooling: mean", "ends with .toml or .json"),
        ("mine.toml", "#" * 70_000, "more than 64,000 bytes"),
    ],
)
def test_files_that_describe_nothing(name: str, text: str, words: str, tmp_path: Path) -> None:
    with pytest.raises(WrongSpec, match=words):
        read_encoder_spec(written(tmp_path, text, name))
    with pytest.raises(WrongSpec, match="can't be read"):
        read_encoder_spec(tmp_path / "nowhere.toml")


def test_of_a_folder_the_toml_and_json_files_count(tmp_path: Path) -> None:
    for name in ("a.toml", "b.json", "notes.txt"):
        written(tmp_path, TOML, name)
    assert list(find_spec_files(tmp_path)) == ["a", "b"]
    assert find_spec_files(tmp_path / "nowhere") == {}
