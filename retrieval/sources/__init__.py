"""Where collections come from: one module for each format or origin.

A reader is a generator of `Record`s in the order of the file, with a `Problem` in the place of each record
that cannot be read. Memory does not grow with the file. A source of queries and snippets together is
read once, as a stream of `Item`s.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, NamedTuple, TypeAlias

__all__ = ["GivenLabel", "Item", "Problem", "Query", "Record", "Scale", "Snippet"]

Scale: TypeAlias = Literal["binary", "graded"]
"""1 match, 0 no match; or 0 to 3, as in CodeSearchNet."""


@dataclass(frozen=True, slots=True)
class Record:
    """One query or snippet as it stands in its source.

    `source_id` is its name there (`query-idx`, `package/module.py::Class.method`), `origin` the data set or
    distribution, `licence` what the source states, empty where it states none.
    """

    text: str
    source_id: str
    origin: str = ""
    licence: str = ""


@dataclass(frozen=True, slots=True)
class Query(Record):
    """A record that is a query, in a source that has both."""


@dataclass(frozen=True, slots=True)
class Snippet(Record):
    """A record that is a snippet, in a source that has both."""


class GivenLabel(NamedTuple):
    """A label that came with the data: query text, snippet text, value on its scale."""

    query: str
    snippet: str
    value: int
    scale: Scale = "binary"


@dataclass(frozen=True, slots=True)
class Problem:
    """Something that could not be read. `record` counts from 1 in its file; 0 means the whole file.

    `costs_labels`: a label is refused with it, or the file ends too early, so that labels may be missing.
    """

    file: str
    record: int
    message: str
    costs_labels: bool = field(default=False, compare=False)

    def __str__(self) -> str:
        place = f"{self.file}, record {self.record}" if self.record else self.file
        return f"{place}: {self.message}"

    @property
    def with_labels(self) -> Problem:
        """The same in a file of labels, where each record that is refused has one."""
        return Problem(self.file, self.record, self.message, costs_labels=True)


Item: TypeAlias = Query | Snippet | GivenLabel | Problem
