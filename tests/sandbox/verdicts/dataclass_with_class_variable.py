"""A variable of the class is no field that is left out.

Right: passed
"""

# candidate
from dataclasses import dataclass, field
from typing import ClassVar


@dataclass
class P:
    count: ClassVar[int] = 0
    x: int
    y: int = 0


def move(p, d):
    return P(p.x + d, p.y)


# program
assert move(P(1, 2), 3) == P(4, 2)
