"""The table: ratios of what was measured together, dashes where nothing was, and the page's markers."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench.rivals import table
from bench.rivals.tool import OPERATIONS, Sample

ROOT = Path(__file__).resolve().parents[3]


def samples(*pairs: tuple[float, float]) -> list[Sample]:
    return [Sample(*pair) for pair in pairs]


def row(text: str, words: str) -> list[str]:
    """The cells of the operation of that name."""
    label = next(one.words for one in OPERATIONS if one.name == words)
    found = [line for line in text.splitlines() if line.startswith(f"| {label} |")]
    assert len(found) == 1
    return [cell.strip() for cell in found[0].strip("|").split("|")][1:]


def test_a_cell_is_median_p95_and_mean_processor_time_in_milliseconds() -> None:
    cell = table.cell_of(samples((0.010, 0.001), (0.020, 0.002), (0.090, 0.006)))
    assert cell == table.Cell(20.0, 83.0, 3.0)
    assert cell.words == "20.0 / 83.0 · 3.0"


def test_one_sample_is_its_own_p95_and_none_is_no_cell() -> None:
    assert table.cell_of(samples((0.5, 0.25))) == table.Cell(500.0, 500.0, 250.0)
    assert table.cell_of([]) is None


@pytest.mark.parametrize(
    ("rival", "ours", "said"),
    [
        (100, 1, "100 ×"),
        (99.6, 10, "10.0 ×"),
        (3, 2, "1.5 ×"),
        (1, 4, "0.25 ×"),
        (1, 1000, "< 0.01 ×"),
        (0, 5, "< 0.01 ×"),
        (5, 0, table.NOTHING),
    ],
)
def test_ratios_say_how_many_times_as_much_the_rival_takes(rival: float, ours: float, said: str) -> None:
    assert table.ratio(rival, ours) == said


def test_the_rivals_next_is_set_against_each_of_our_ways() -> None:
    found = {
        "we": {"next": samples((0.01, 0.004)), "next_page": samples((0.04, 0.016))},
        "they": {"next": samples((0.02, 0.016))},
    }
    text = table.ratios(found, "we", ["they"])
    assert row(text, "next") == ["4.0 ×, 2.0 ×"]
    assert row(text, "next_page") == ["1.0 ×, 0.50 ×"]
    assert row(text, "next_review") == [table.NOTHING]


def test_times_are_given_once_and_missing_ones_are_dashes() -> None:
    found = {
        "we": {"next": samples((0.01, 0.004)), "next_page": samples((0.04, 0.016))},
        "they": {"next": samples((0.02, 0.016))},
    }
    text = table.times(found, "we", ["they", "absent"])
    assert row(text, "next") == ["10.0 / 10.0 · 4.0", "20.0 / 20.0 · 16.0", table.NOTHING]
    assert row(text, "next_page") == ["40.0 / 40.0 · 16.0", table.NOTHING, table.NOTHING]


def test_every_row_has_as_many_cells_as_the_head() -> None:
    for text in (table.ratios({}, "we", ["a", "b"]), table.times({}, "we", ["a", "b"])):
        lines = text.splitlines()
        assert len(lines) == len(OPERATIONS) + 2
        assert {line.count("|") for line in lines} == {lines[0].count("|")}


def test_notes_name_what_did_not_run_and_what_is_missing_in_one_line_each() -> None:
    said = table.notes({"they": {"export": "has none"}}, {"broken": "no such\nversion"})
    assert said.splitlines() == [
        "- **broken did not run**: no such version",
        "- they, export of all rows: has none",
    ]


def test_a_renewed_page_keeps_all_but_what_is_between_its_markers() -> None:
    page = f"# Title\n\n{table.BEGINS}\nold\n{table.ENDS}\n\nthe end\n"
    new = table.put_between(table.put_between(page, "first"), "second")
    assert new == f"# Title\n\n{table.BEGINS}\n\nsecond\n\n{table.ENDS}\n\nthe end\n"


@pytest.mark.parametrize("page", ["", table.BEGINS, table.ENDS, f"{table.ENDS}\n{table.BEGINS}"])
def test_a_page_without_a_place_for_it_is_refused(page: str) -> None:
    with pytest.raises(table.NoMarkers):
        table.put_between(page, "text")


def test_the_committed_page_holds_a_run_of_all_four_tools() -> None:
    page = (ROOT / "docs" / "rivals.md").read_text()
    assert table.put_between(page, "new") != page
    made = page.partition(table.BEGINS)[2].partition(table.ENDS)[0]
    for word in ("- date: ", "- machine: ", "Label Studio: CPU, wait", "doccano: CPU", "Potato: CPU"):
        assert word in made
    assert "did not run" not in made
