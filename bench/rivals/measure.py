"""One run: install, start, load, then every operation of every tool, in turns.

The tools take turns in each operation, so that a busy moment of the machine meets all of them. A tool that
fails is said so in the result, and the others go on.
"""

from __future__ import annotations

import http.client
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Final

from bench.review.server import Failed
from bench.rivals.doccano import Doccano
from bench.rivals.label_studio import LabelStudio
from bench.rivals.ours import Workbench
from bench.rivals.potato import Potato
from bench.rivals.processes import Environment
from bench.rivals.rows import lean_rows, whole_rows
from bench.rivals.tool import CannotRun, Sample, Step, Tool

RIVALS: Final[Mapping[str, Callable[[Environment], Tool]]] = {
    "label-studio": LabelStudio,
    "doccano": Doccano,
    "potato": Potato,
}
WRONG: Final = (CannotRun, Failed, OSError, http.client.HTTPException, LookupError, TypeError, ValueError)
"""What a tool that is not as it was expected to be leads to."""
DECISION: Final = (
    "next",
    "next_page",
    "next_review",
    "item",
    "item_page",
    "submit",
    "submit_page",
    "submit_review",
)
LISTS: Final = ("list", "list_page", "deep", "deep_page", "filtered", "filtered_page")
EXPORTS: Final = ("labels", "export")
WARM: Final = 3
A_TURN: Final = 5
LISTINGS: Final = 20
EXPORTINGS: Final = 3
IMPORTS: Final = 3
ONE_ROW: Final = "import_one"
"""No operation of the table: what is taken away from another one."""


@dataclass
class Found:
    """Samples by tool and operation, and in words why there are none; `versions`: of the tools that ran."""

    versions: dict[str, str] = field(default_factory=dict)
    samples: dict[str, dict[str, list[Sample]]] = field(default_factory=lambda: defaultdict(dict))
    reasons: dict[str, dict[str, str]] = field(default_factory=lambda: defaultdict(dict))
    absent: dict[str, str] = field(default_factory=dict)
    memory: dict[str, float] = field(default_factory=dict)

    def take(self, tool: Tool, operation: str, work: Callable[[], Sample]) -> None:
        """Do it once more, unless it went wrong before."""
        if operation in self.reasons[tool.name]:
            return
        try:
            self.samples[tool.name].setdefault(operation, []).append(work())
        except WRONG as why:
            self.samples[tool.name].pop(operation, None)
            self.reasons[tool.name][operation] = f"failed: {why}"

    def forget_warm(self, operations: Sequence[str]) -> None:
        """Drop what was done to warm up."""
        for samples in self.samples.values():
            for operation in operations:
                samples.get(operation, []).clear()


def measure_tools(names: Sequence[str], count: int, decisions: int, folder: Path, kept: Path | None) -> Found:
    """Our side and the named rivals with so many rows; `kept` is where environments outlive the run."""
    found = Found()
    tools: list[Tool] = [Workbench()]
    tools += [RIVALS[name](environment(folder / name, kept, name)) for name in names]
    with ExitStack() as stack:
        for tool in tools:
            stack.callback(tool.stop)
        running = list(started(tools, count, found))
        decide(running, decisions, found)
        in_turns(running, LISTS, LISTINGS, found)
        in_turns(running, EXPORTS, EXPORTINGS, found)
        found.memory = {tool.name: tool.memory() for tool in running}
        for part in range(IMPORTS + 1):
            for tool in running:
                say(f"import {part} into {tool.name}")
                bring_in(tool, count, part, found)
    return found


def bring_in(tool: Tool, count: int, part: int, found: Found) -> None:
    """Import one row, and unless `part` is 0, which warms up, then all of them.

    What is left without the one row has no start of a command, no new project and no way to the server.
    """
    one = list[Sample]()

    def import_one() -> Sample:
        one.append(tool.bring_in(lean_rows(1, part + 1)))
        return one[0]

    found.take(tool, ONE_ROW, import_one)
    if part == 0 or not one:
        return
    found.take(tool, "import", partial(tool.bring_in, lean_rows(count, part)))
    for whole in found.samples[tool.name].get("import", [])[-1:]:
        found.take(tool, "import_rest", partial(less, whole, one[0]))


def less(whole: Sample, part: Sample) -> Sample:
    """What is left of an operation without a part of it."""
    return Sample(max(0.0, whole.seconds - part.seconds), max(0.0, whole.cpu - part.cpu))


def environment(folder: Path, kept: Path | None, name: str) -> Environment:
    return Environment(folder, (kept / name) if kept else folder / "venv")


def started(tools: Sequence[Tool], count: int, found: Found) -> Iterator[Tool]:
    """Those that run, with the rows in them."""
    rows = whole_rows(count)
    for tool in tools:
        say(f"{tool.name}: install, start, load")
        try:
            version = tool.install()
            tool.start(rows)
        except WRONG as why:
            found.absent[tool.name] = str(why)
            tool.stop()
        else:
            found.versions[tool.name] = version
            found.reasons[tool.name] |= tool.missing()
            yield tool


def decide(tools: Sequence[Tool], decisions: int, found: Found) -> None:
    """Decisions of one person at each tool, a few at a turn."""
    say("decisions")
    turn(tools, DECISION, WARM, found)
    found.forget_warm(DECISION)
    for _ in range(0, decisions, A_TURN):
        turn(tools, DECISION, A_TURN, found)


def in_turns(tools: Sequence[Tool], operations: Sequence[str], times: int, found: Found) -> None:
    """Each operation so often, once at a turn, after one time that is not counted."""
    for operation in operations:
        say(operation)
        turn(tools, [operation], 1, found)
        found.forget_warm([operation])
        for _ in range(times):
            turn(tools, [operation], 1, found)


def turn(tools: Sequence[Tool], operations: Sequence[str], times: int, found: Found) -> None:
    for tool in tools:
        steps = tool.steps()
        for _ in range(times):
            for operation in operations:
                if operation in steps:
                    found.take(tool, operation, partial(clocked, tool, steps[operation]))


def clocked(tool: Tool, step: Step) -> Sample:
    """One operation with what it used."""
    before = tool.used()
    seconds = step()
    return Sample(seconds, tool.used() - before)


def say(what: str) -> None:
    sys.stderr.write(f"{what} …\n")
