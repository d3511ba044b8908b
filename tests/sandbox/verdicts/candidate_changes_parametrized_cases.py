"""Nor those that pytest holds.

Right: not passed, or suspicious
"""


# candidate
def twice(x):
    globals()["CASES"][0][1][:] = x
    return list(x)


# program
import pytest

CASES = [([1], [1, 1])]


@pytest.mark.parametrize("given, wanted", CASES)
def test_twice(given, wanted):
    assert twice(given) == wanted
