"""Tests that an exit leaves uncalled are not passed.

Right: not passed, or suspicious
"""


# candidate
def triple(x):
    return x * 3


# program
import sys


def test_triple():
    assert triple(1) == 4


assert triple(1) == 3
sys.exit(0)
