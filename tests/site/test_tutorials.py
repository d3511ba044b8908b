"""Each tutorial and the README, typed from the first line to the last, print what they say."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from tests.fake_messages import Answer, FakeMessages, canned
from tests.site.typed_commands import BLOCK, ROOT, Reader, commands_of, is_printed, refuse_other_lines

TUTORIALS: Final = ROOT / "docs" / "tutorials"
RIGHT: Final = {
    "slug": "slugify",
    "palindrome": "is_palindrome",
    "word occurs": "count_words",
    "camel case": "camel_to_snake",
    "list of lists": "flatten",
    "duplicates": "unique",
    "chunks": "chunks",
    "most common": "most_common",
    "prime": "is_prime",
    "roman": "to_roman",
}
"""The function that answers a query with these words, says whoever stands in for the model."""
UNCLEAR: Final = "to_roman"
"""Of this one a test decides."""


@pytest.fixture
def model() -> Iterator[FakeMessages]:
    with FakeMessages(answer=judge) as fake:
        yield fake


def judge(body: dict[str, Any]) -> Answer:
    """What the screener says of a pair; all others say what a fake always says."""
    said = canned(body)
    asked = re.search(r"<query-\w+>\\n(.*?)\\n</query", str(body["messages"]))
    if not isinstance(said, dict) or said.get("verdict") != 0.5 or not asked:
        return said
    right = next(name for words, name in RIGHT.items() if words in asked[1])
    if f"def {right}(" not in str(body["messages"]):
        return said | {"verdict": 0}
    return said | {"verdict": 0.5 if right == UNCLEAR else 1}


def test_own_code(tmp_path: Path, model: FakeMessages) -> None:
    reader = Reader(tmp_path, {"ANTHROPIC_API_KEY": model.key, "COSQA_LLM_BASE_URL": model.url})
    reader.follow(TUTORIALS / "own-code.md")
    assert len(reader.typed) >= 12
    assert (reader.folder / "shelf-search-hf" / "README.md").is_file()


def test_audit(tmp_path: Path) -> None:
    reader = Reader(tmp_path, {})
    reader.follow(TUTORIALS / "audit.md")
    assert len(reader.typed) >= 10
    assert (reader.folder / "corrected" / "workbench.json").is_file()


def test_no_key(tmp_path: Path) -> None:
    reader = Reader(tmp_path, {})
    reader.follow(TUTORIALS / "no-key.md")
    assert len(reader.typed) >= 12


def test_readme(tmp_path: Path, model: FakeMessages) -> None:
    reader = Reader(tmp_path, {"ANTHROPIC_API_KEY": model.key, "COSQA_LLM_BASE_URL": model.url})
    for kind, name, content in BLOCK.findall((TUTORIALS / "own-code.md").read_text("utf-8")):
        if kind == "file":
            reader.write(name.replace("shelf/", "src/"), content)
    reader.follow(ROOT / "README.md")
    assert len(reader.typed) >= 12
    assert (reader.folder / "plus-beir" / "corpus.jsonl").is_file()


def test_every_tutorial_is_typed() -> None:
    assert {page.stem for page in TUTORIALS.glob("*.md")} == {"own-code", "audit", "no-key"}


def test_no_block_of_a_tutorial_is_of_a_kind_that_is_not_typed() -> None:
    for page in [*TUTORIALS.glob("*.md"), ROOT / "README.md"]:
        text = page.read_text("utf-8")
        assert len(BLOCK.findall(text)) * 2 == len(re.findall(r"^```", text, re.MULTILINE)), page.name


def test_commands_and_what_they_print_are_told_apart() -> None:
    first, second = commands_of("$ cosqa init\nAdmin: …\n$ cosqa check  # look\n")
    assert (first.words, first.wanted) == (("cosqa", "init"), ("Admin: …",))
    assert (second.words, second.wanted) == (("cosqa", "check"), ())


def test_a_line_that_is_not_printed_is_missed() -> None:
    assert is_printed("a … (c)", "x\na b (c)\n")
    assert not is_printed("a … (c)", "a b (d)")
    assert not is_printed("a", "a b")


def test_a_line_that_nothing_proves_is_refused() -> None:
    refuse_other_lines("pipx install cosqa-workbench     # from a wheel\n")
    with pytest.raises(AssertionError, match="rm -rf"):
        refuse_other_lines("rm -rf /\n")
