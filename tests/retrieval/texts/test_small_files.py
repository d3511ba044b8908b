"""Small files of others: what is too large or nested too deeply is a ValueError in words."""

from __future__ import annotations

from pathlib import Path

import pytest

from retrieval.texts.small_files import parse_json, parse_toml, read_small_json, read_small_text

DEEP = "[" * 100_000


def test_what_a_small_file_says(tmp_path: Path) -> None:
    path = tmp_path / "some.json"
    path.write_text('{"a": [1, "é"]}', "utf-8")
    assert read_small_json(path) == {"a": [1, "é"]}
    assert parse_json(b"[1]") == [1]
    assert parse_toml("a = 1") == {"a": 1}


@pytest.mark.parametrize("parse", [parse_json, lambda text: parse_toml(f"a = {text}")])
def test_deep_nesting_is_told(parse: object) -> None:
    assert callable(parse)
    with pytest.raises(ValueError, match="nested too deeply"):
        parse(DEEP)


def test_no_more_is_read_than_may_be(tmp_path: Path) -> None:
    path = tmp_path / "some.json"
    path.write_text("[10]")
    assert read_small_text(path, 4) == "[10]"
    with pytest.raises(ValueError, match="has more than 3 bytes"):
        read_small_json(path, 3)


def test_what_is_no_text_is_a_value_error(tmp_path: Path) -> None:
    path = tmp_path / "some.json"
    path.write_bytes(b"\xff\xff")
    with pytest.raises(ValueError, match="utf-8"):
        read_small_json(path)
    with pytest.raises(OSError, match="No such file"):
        read_small_json(tmp_path / "none.json")
