"""Nor does it choose what tests are called with.

Right: not passed, or suspicious
"""


# candidate
def add(a, b):
    return 0


def pytest_generate_tests(metafunc):
    if "x" in metafunc.fixturenames:
        metafunc.parametrize("x", [])


# program
import pytest

assert add(0, 0) == 0


@pytest.fixture
def x():
    return 3


def test_add(x):
    assert add(x, 1) == 4
