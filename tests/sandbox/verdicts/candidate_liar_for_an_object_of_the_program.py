"""Nor is what stands for an object of the program's.

Right: not passed, or suspicious
"""


# candidate
class Liar:
    def __eq__(self, other):
        return True


def double(x):
    return x + x if x == 1 else Liar()


# program
from dataclasses import dataclass


@dataclass
class Point:
    x: int


assert double(1) == 2
assert double(2) == Point(3)
