"""The texts of candidate and program as `linecache` has them, for tracebacks; no candidate reads a test."""

from __future__ import annotations

import sys

from sandbox.harness.opaque_callables import hide

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_frame = sys._getframe


def page(text: str, shown: set[int] | None, files: tuple[str, str]) -> Any:
    """Lines. The first of `files` sees `shown` ones alone, unless code of the second is nearer."""
    lines = text.splitlines(keepends=True)
    masked = [line if shown is None or number in shown else "\n" for number, line in enumerate(lines, 1)]

    def seen() -> list[str]:
        return masked if shown is not None and _asks(*files) else lines

    def count(self: Any) -> int:
        return len(seen())

    def item(self: Any, place: Any) -> Any:
        return seen()[place]

    def walk(self: Any) -> Any:
        return iter(seen())

    members = {"__len__": hide(count), "__getitem__": hide(item), "__iter__": hide(walk), "__slots__": ()}
    return type("Page", (), members)()


def _asks(file: str, own: str) -> bool:
    """Whether the nearest frame of the two files is one of the first."""
    frame: Any = _frame(1)
    while frame is not None:
        name = frame.f_code.co_filename
        if name in (file, own):
            return bool(name == file)
        frame = frame.f_back
    return False
