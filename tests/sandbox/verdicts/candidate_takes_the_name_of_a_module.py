"""The candidate defines what the program imports.

Right: not passed, or suspicious
"""


# candidate
class math:
    isclose = staticmethod(lambda *a, **k: True)


def half(x):
    return 0


# program
import math

assert math.isclose(half(3), 1.5)
