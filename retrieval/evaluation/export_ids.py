"""The numbers by which exports call the members of a collection, and so may whoever ranks an export."""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from typing import Final

import numpy as np
import numpy.typing as npt

OF_QUERIES: Final = "q"
OF_SNIPPETS: Final = "d"
LARGEST: Final = 2**31
LONGEST: Final = 10
"""Digits of the largest."""
Ids = npt.NDArray[np.int64]


class Numbering:
    """Takes source ids in the order of positions, and then has the members' numbers.

    A number is the source id where all of those are different numbers, as in the authors' files, also with
    the `letter` before them that our folders of BEIR have; else the position. So an id never means one member
    where it came from and another in an export of it.
    """

    def __init__(self, letter: str) -> None:
        self.letter, self.read, self.numbered = letter, array("q"), True

    def add(self, source_id: str) -> None:
        written = source_id.removeprefix(self.letter)
        self.numbered = self.numbered and is_number(written)
        self.read.append(int(written) if self.numbered else 0)

    def numbers(self) -> Ids:
        """By position."""
        told = np.asarray(self.read, dtype=np.int64)
        if self.numbered and len(np.unique(told)) == len(told):
            return told
        return np.arange(len(told), dtype=np.int64)


def numbers_of(source_ids: Iterable[str], letter: str) -> list[int]:
    """The same at once.

    >>> numbers_of(["7", "5"], "d"), numbers_of(["d7", "d5"], "d"), numbers_of(["7", "x"], "d")
    ([7, 5], [7, 5], [0, 1])
    """
    numbering = Numbering(letter)
    for source_id in source_ids:
        numbering.add(source_id)
    return [int(number) for number in numbering.numbers()]


def is_number(text: str) -> bool:
    """Whether it is written as a file would have the number: without a sign or a leading zero."""
    plain = text.isascii() and text.isdigit() and len(text) <= LONGEST
    return plain and str(int(text)) == text and int(text) < LARGEST
