"""Lines of a function that a person marks as the reason of a label: written `4-7`, or `4` for one line."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from retrieval.models import Text

WRITTEN: Final = re.compile(r"([0-9]{1,6})(?:\s*[-–]\s*([0-9]{1,6}))?")


class BadLines(ValueError):
    """What was sent names no lines of the function; the message says what to change."""


@dataclass(frozen=True, slots=True)
class MarkedLines:
    """The lines `first` to `last`, from 1, of the code with this sha256."""

    first: int
    last: int
    code: str

    @property
    def written(self) -> str:
        """As people type them."""
        return str(self.first) if self.first == self.last else f"{self.first}-{self.last}"

    @property
    def columns(self) -> dict[str, int | str]:
        """As a row keeps them."""
        return {"marked_first": self.first, "marked_last": self.last, "marked_code": self.code}


def read_marked_lines(written: str, snippet: Text) -> MarkedLines | None:
    """The lines of the snippet that somebody typed; None for an empty text. Raises BadLines."""
    if not written.strip():
        return None
    found = WRITTEN.fullmatch(written.strip())
    if found is None:
        raise BadLines(f"Lines are written as 4-7, or 4 for one line, not {written.strip()[:40]!r}.")
    first, last = int(found[1]), int(found[2] or found[1])
    length = count_lines(snippet.text)
    if not 1 <= first <= last <= length:
        raise BadLines(f"The function has the lines 1 to {length:,}. Lines {first}-{last} are not in it.")
    return MarkedLines(first, last, snippet.digest)


def count_lines(code: str) -> int:
    """How many lines the page numbers: they end where Python's do."""
    return code.replace("\r\n", "\n").replace("\r", "\n").removesuffix("\n").count("\n") + 1
