"""What the library's own decorator makes of a class is trusted.

Right: passed
"""

# candidate
from dataclasses import dataclass


@dataclass(frozen=True)
class Point:
    x: int
    y: int


def mirror(point):
    return Point(point.y, point.x)


# program
assert mirror(Point(1, 2)) == Point(2, 1)
