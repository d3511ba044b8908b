"""A field that pytest compares is proof.

Right: passed
"""


# candidate
class T:
    def __init__(self, c):
        self.c = c

    def __add__(self, d):
        return T(self.c + d)


# program
import pytest


def test_it():
    assert (T(20) + 5).c == pytest.approx(25)
