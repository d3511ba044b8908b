"""Nor one of a plain namespace.

Right: not passed, or suspicious
"""


# candidate
def answers():
    globals()["EXPECTED"].x = 1
    return 1


# program
from types import SimpleNamespace

EXPECTED = SimpleNamespace(x=2)
assert answers() == EXPECTED.x
