"""docs/seeds.md names places that exist, and says of each row how it stands."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "seeds.md").read_text(encoding="utf-8")
STATES = {"works", "partly", "missing", "needs weights"}
HEADERS = [line for line in PAGE.splitlines() if line.startswith("| row ")]
ROWS = [
    [cell.strip() for cell in line.strip("|").split("|")]
    for line in PAGE.splitlines()
    if line.startswith("| ") and line[2].isdigit()
]


def cells_of(row: list[str]) -> tuple[str, str, str]:
    """Where a row's thing is, its state, and how it was seen: the last three cells."""
    where, state, seen = row[-3:]
    return where, state, seen


def test_the_page_has_the_rows_of_all_papers() -> None:
    numbers = [int(number) for row in ROWS for number in row[0].split(",")]
    assert len(HEADERS) == 3
    assert numbers == sorted(set(numbers))
    assert {2, 42, 75, 87, 90, 93, 99, 104, 113, 115, 121} <= set(numbers)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0])
def test_each_row_has_a_state_and_what_is_there_was_seen(row: list[str]) -> None:
    where, state, seen = cells_of(row)
    assert state in STATES
    assert state == "missing" or (where and seen)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0])
def test_each_place_exists(row: list[str]) -> None:
    where = cells_of(row)[0]
    places = [ROOT / place for place in re.findall(r"`([^`]+)`", where)]
    linked = [ROOT / "docs" / page for page in re.findall(r"\]\(([^)#]+)", where)]
    assert [str(place) for place in (*places, *linked) if not place.exists()] == []


def test_readers_find_the_page() -> None:
    assert "(seeds.md)" in (ROOT / "docs" / "README.md").read_text(encoding="utf-8")
