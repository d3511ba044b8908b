"""Where collections come from: one module for each format or origin.

A reader is a generator of `Record`s in the order of the file, with a `Problem` in the place of each record
that cannot be read. Memory does not grow with the file.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Problem", "Record"]


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
class Problem:
    """Something that could not be read. `record` counts from 1 in its file; 0 means the whole file."""

    file: str
    record: int
    message: str

    def __str__(self) -> str:
        place = f"{self.file}, record {self.record}" if self.record else self.file
        return f"{place}: {self.message}"
