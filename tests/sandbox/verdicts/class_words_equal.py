"""Enumerations, named tuples and ordered dataclasses are compared by the library.

Right: passed
"""

# candidate
import enum
from collections import namedtuple
from dataclasses import dataclass

Place = namedtuple("Place", "row column")


class Colour(enum.Enum):
    RED = 1


class Level(enum.IntEnum):
    LOW = 1


@dataclass(order=True)
class Version:
    major: int
    minor: int


@dataclass
class Nothing:
    pass


def found():
    return [Place(1, 2), Colour.RED, Level.LOW, Version(1, 2), Nothing()]


# program
assert found() == [(1, 2), Colour.RED, 1, Version(1, 2), Nothing()]
assert found()[3] < Version(2, 0) and found()[3] >= Version(1, 2)
