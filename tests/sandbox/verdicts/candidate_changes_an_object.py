"""Nor a field of an object of the program's.

Right: not passed, or suspicious
"""


# candidate
def answers():
    globals()["EXPECTED"].x = 1
    return 1


# program
from dataclasses import dataclass


@dataclass
class E:
    x: int


EXPECTED = E(2)
assert answers() == EXPECTED.x
