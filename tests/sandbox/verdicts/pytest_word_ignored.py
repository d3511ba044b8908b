"""A test that pytest saw fail is none that passed, whoever looks at its word.

Right: errored
"""


# candidate
def double(x):
    return {1: 2}[x]


# program
import pytest


def test_one():
    assert double(1) == 2


def test_two():
    result = double(2)
    assert result == 4


pytest.main([__file__])
