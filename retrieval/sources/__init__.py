"""Where collections come from: one module for each format or origin.

A reader is a generator of `Record`s in the order of the file, with a `Problem` in the place of each record
that cannot be read. Memory does not grow with the file. A source of queries and snippets together is
read once, as a stream of `Item`s.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias

__all__ = [
    "GRADES",
    "LARGEST_GRADE",
    "GivenLabel",
    "Item",
    "Problem",
    "Query",
    "Record",
    "Scale",
    "Snippet",
    "scale_of_grades",
]

Scale: TypeAlias = Literal["binary", "graded", "whole"]
"""1 match, 0 no match; 0 to 3, as in CodeSearchNet; whole numbers, as in TREC qrels: a match above 0."""
LARGEST_GRADE: Final = 1000
"""2 to the power of it is still a number that can be added up."""
GRADES: Final[Mapping[Scale, range]] = {
    "binary": range(2),
    "graded": range(4),
    "whole": range(-LARGEST_GRADE, LARGEST_GRADE + 1),
}


def scale_of_grades(grades: Iterable[float]) -> Scale:
    """The narrowest scale that reaches from the lowest to the highest of these.

    >>> scale_of_grades([1, 0]), scale_of_grades([0, 2.5]), scale_of_grades([-1, 1]), scale_of_grades([4])
    ('binary', 'graded', 'whole', 'whole')
    """
    lowest, highest = 0.0, 1.0
    for grade in grades:
        lowest, highest = min(lowest, grade), max(highest, grade)
    if lowest < 0 or highest > GRADES["graded"][-1]:
        return "whole"
    return "graded" if highest > 1 else "binary"


@dataclass(frozen=True, slots=True)
class Record:
    """One query or snippet as it stands in its source.

    `source_id` is its name there (`query-idx`, `package/module.py::Class.method`), `origin` the data set or
    distribution, `licence` what the source states, empty where it states none, `id_from` what was read as its
    name, such as `_id`. `has_id` is whether the name is an id that the source gives, not a number that the
    reader made up, and `is_key` whether that id means one text alone, as a path with a name does not.
    `partition` is train, valid or test where the source says one.
    """

    text: str
    source_id: str
    origin: str = ""
    licence: str = ""
    id_from: str = field(default="", compare=False)
    has_id: bool = field(default=True, compare=False)
    is_key: bool = field(default=False, compare=False)
    partition: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class Query(Record):
    """A record that is a query, in a source that has both."""


@dataclass(frozen=True, slots=True)
class Snippet(Record):
    """A record that is a snippet, in a source that has both."""


@dataclass(frozen=True, slots=True)
class GivenLabel:
    """A label that came with the data: query text, snippet text, value on its scale.

    And the ids that it names them by, which are no part of what it says; empty: it names the text. `id_from`
    is what these were read from, such as `query-id and corpus-id`.
    """

    query: str
    snippet: str
    value: int
    scale: Scale = "binary"
    query_id: str = field(default="", compare=False)
    snippet_id: str = field(default="", compare=False)
    id_from: str = field(default="", compare=False)


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
