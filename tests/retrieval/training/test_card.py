"""The card in words."""

from __future__ import annotations

from pathlib import Path

import pytest

from retrieval.training.card import NoCard, in_one_line, read_card


def test_a_licence_of_a_source_stays_one_plain_line() -> None:
    assert in_one_line("MIT\n\n# [Free](x) <b>money</b>") == "MIT Free (x) b money /b"
    assert len(in_one_line("long " * 100)) == 80


@pytest.mark.parametrize("content", [None, "{}", "no JSON", "[1]"])
def test_a_folder_without_a_card_is_refused(tmp_path: Path, content: str | None) -> None:
    if content is not None:
        (tmp_path / "training.json").write_text(content)
    with pytest.raises(NoCard, match="train again into another folder"):
        read_card(tmp_path)
