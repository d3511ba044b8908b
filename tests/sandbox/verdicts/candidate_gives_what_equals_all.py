"""Nor is a library's object that equals anything.

Right: not passed, or suspicious
"""

# candidate
from test.support import ALWAYS_EQ


def answer():
    return ALWAYS_EQ


# program
assert answer() == 43
