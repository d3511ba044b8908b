"""Growth: what an item takes at the last size ÷ at the first."""

from __future__ import annotations

from bench.million.steps import Step
from bench.million.table import figures
from bench.million.way import Run


def run_of(functions: int, cpu: float, milliseconds: float) -> Run:
    steps = {"import": Step("import", functions, cpu, 2 * cpu, 70)}
    return Run(functions, 10, steps, {"build": {"milliseconds": milliseconds, "statements": 9}}, "ab")


def test_growth_is_by_item_of_steps_and_by_look_of_pages() -> None:
    """2 s of 1,000 are 2,000 µs each, 30 s of 10,000 are 3,000: 1.5 times. 30 ms after 20 ms are, too."""
    found = figures([run_of(1_000, 2, 20), run_of(10_000, 30, 30)])
    assert found["growth"] == {"import": 1.5}
    assert found["page_growth"] == {"build": 1.5}
    assert [size["steps"]["import"]["microseconds_an_item"] for size in found["sizes"]] == [2_000, 3_000]
