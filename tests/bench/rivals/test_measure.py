"""Tools take turns; one that fails is left out and never ends the run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest

from bench.review.server import Failed
from bench.rivals import measure
from bench.rivals.measure import Found
from bench.rivals.rows import Row
from bench.rivals.tool import CannotRun, Sample, Step


class Fake:
    """A tool that notes what it is asked for in a list that all share."""

    def __init__(self, name: str, done: list[str], *, installs: bool = True, fails: str = "") -> None:
        self.name, self.done, self.installs, self.fails = name, done, installs, fails
        self.clock, self.stopped, self.rows = 0.0, 0, 0

    def install(self) -> str:
        if not self.installs:
            raise CannotRun("there is no such version")
        return "1.0"

    def start(self, rows: Sequence[Row]) -> None:
        self.rows = len(rows)

    def used(self) -> float:
        return self.clock

    def steps(self) -> Mapping[str, Step]:
        return {name: lambda name=name: self.do(name) for name in ("next", "item", "submit", "list")}  # type: ignore[misc]

    def missing(self) -> Mapping[str, str]:
        return {"export": "has none"}

    def do(self, name: str) -> float:
        self.done.append(f"{self.name} {name}")
        if name == self.fails:
            raise Failed("500: it broke")
        self.clock += 0.25
        return 0.5

    def bring_in(self, rows: Sequence[Row]) -> Sample:
        self.done.append(f"{self.name} imports {len(rows)}")
        if self.fails == f"import of {len(rows)}":
            raise Failed("500: it broke")
        return Sample(1.0 + len(rows) / 100, 0.5 + len(rows) / 200)

    def memory(self) -> float:
        return 1.0

    def stop(self) -> None:
        self.stopped += 1


def test_tools_take_turns_and_what_warms_up_is_not_counted() -> None:
    done: list[str] = []
    found = Found()
    measure.decide([Fake("a", done), Fake("b", done)], 10, found)
    cycles = ["next", "item", "submit"]
    turns = [measure.WARM, measure.A_TURN, measure.A_TURN]
    expected = [f"{tool} {step}" for many in turns for tool in "ab" for _ in range(many) for step in cycles]
    assert done == expected
    assert {name: len(one) for name, one in found.samples["a"].items()} == dict.fromkeys(cycles, 10)


def test_a_sample_is_what_was_waited_and_what_the_processes_used() -> None:
    found = Found()
    measure.in_turns([Fake("a", [])], ["list"], 2, found)
    assert found.samples["a"]["list"] == [Sample(0.5, 0.25)] * 2


def test_an_import_is_also_told_without_what_one_row_takes() -> None:
    done: list[str] = []
    found, tool = Found(), Fake("a", done)
    for part in range(3):
        measure.bring_in(tool, 100, part, found)
    assert done == ["a imports 1"] + ["a imports 1", "a imports 100"] * 2
    assert found.samples["a"]["import"] == [Sample(2.0, 1.0)] * 2
    # 2 s less 1.01 s, and 1 s less 0.505 s of a processor
    for rest in found.samples["a"]["import_rest"]:
        assert (rest.seconds, rest.cpu) == pytest.approx((0.99, 0.495))
    assert len(found.samples["a"]["import_rest"]) == 2


@pytest.mark.parametrize("fails", ["import of 1", "import of 100"])
def test_an_import_that_fails_has_no_rest(fails: str) -> None:
    found, tool = Found(), Fake("a", [], fails=fails)
    for part in range(3):
        measure.bring_in(tool, 100, part, found)
    assert not found.samples["a"].get("import_rest")


def test_an_operation_that_fails_is_asked_once_and_has_no_figure() -> None:
    done: list[str] = []
    found = Found()
    measure.in_turns([Fake("a", done, fails="list"), Fake("b", done)], ["list"], 3, found)
    assert done.count("a list") == 1
    assert done.count("b list") == 4
    assert "list" not in found.samples["a"]
    assert found.reasons["a"] == {"list": "failed: 500: it broke"}
    assert len(found.samples["b"]["list"]) == 3


def test_one_that_fails_later_loses_the_figures_that_it_had() -> None:
    found, tool = Found(), Fake("a", [])
    measure.turn([tool], ["list"], 2, found)
    tool.fails = "list"
    measure.turn([tool], ["list"], 1, found)
    assert found.samples["a"] == {}


def test_a_tool_that_cannot_be_installed_is_named_and_the_others_run() -> None:
    broken, well = Fake("broken", [], installs=False), Fake("well", [])
    found = Found()
    running = list(measure.started([broken, well], 100, found))
    assert running == [well]
    assert well.rows == 100
    assert broken.stopped == 1
    assert found.absent == {"broken": "there is no such version"}
    assert found.versions == {"well": "1.0"}
    assert found.reasons["well"] == {"export": "has none"}
