"""What every tool is asked to do, ours among them, and what comes back of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from bench.rivals.rows import Row

PAGE: Final = 50
"""Rows on a page of a list."""
FILTER: Final = "python flatten"
"""What the filtered list looks for: queries alone contain it, one in thirteen."""


class CannotRun(Exception):
    """The tool could not be installed or started; the message says why."""


@dataclass(frozen=True)
class Sample:
    """One operation: seconds until its last byte, and processor seconds of the tool's processes."""

    seconds: float
    cpu: float


@dataclass(frozen=True)
class Operation:
    """Something that all are asked for; `beside`: what the rivals are asked for where ours has two ways."""

    name: str
    words: str
    beside: str = ""

    @property
    def of_rivals(self) -> str:
        return self.beside or self.name


OPERATIONS: Final[Sequence[Operation]] = (
    Operation("import", "import of all rows (query and code)"),
    Operation("import_rest", "import of all rows, less that of one row"),
    Operation("next", "next item; ours a study's, by its API"),
    Operation("next_page", "next item; ours a study's, as a page", beside="next"),
    Operation("next_review", "next item; ours in plain review, as a page", beside="next"),
    Operation("submit", "submit; ours in a study, by its API"),
    Operation("submit_page", "submit; ours in a study, by the page's form", beside="submit"),
    Operation("submit_review", "submit; ours in plain review, by the page's form", beside="submit"),
    Operation("item", "one item; ours by its API"),
    Operation("item_page", "one item; ours in plain review, as a page", beside="item"),
    Operation("list", f"first {PAGE} rows; ours by its API"),
    Operation("list_page", f"first {PAGE} rows; ours as a page", beside="list"),
    Operation("deep", f"{PAGE} rows in the middle; ours by its API"),
    Operation("deep_page", f"{PAGE} rows in the middle; ours as a page", beside="deep"),
    Operation("filtered", f"{PAGE} rows with “{FILTER}”, sorted; ours by its API"),
    Operation("filtered_page", f"{PAGE} rows with “{FILTER}”, sorted; ours as a page", beside="filtered"),
    Operation("labels", "export of the labels"),
    Operation("export", "export of all rows"),
)
Step = Callable[[], float]
"""Does an operation once; gives the seconds that its client waited."""


class Tool(Protocol):
    """One tool in a folder of its own. What goes wrong is a CannotRun, a Failed or an OSError."""

    name: str

    def install(self) -> str:
        """Put it there; gives the version. Raises CannotRun."""

    def start(self, rows: Sequence[Row]) -> None:
        """Have it serve on loopback with these rows in it. Raises CannotRun."""

    def used(self) -> float:
        """Processor seconds of its processes so far."""

    def steps(self) -> Mapping[str, Step]:
        """What it can do over and over, by the operations' names."""

    def missing(self) -> Mapping[str, str]:
        """Why it lacks the others."""

    def bring_in(self, rows: Sequence[Row]) -> Sample:
        """Import rows beside the others, query and code alone."""

    def memory(self) -> float:
        """MiB of its processes, what they share counted once."""

    def stop(self) -> None:
        """End its processes; nothing happens where none run."""
