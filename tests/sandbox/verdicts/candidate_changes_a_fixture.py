"""Nor is a fixture.

Right: not passed, or suspicious
"""


# candidate
def clone(items):
    items.append(0)
    return [*items]


# program
import pytest


@pytest.fixture
def items():
    return [1, 2]


def test_clone(items):
    assert clone(items) == items
