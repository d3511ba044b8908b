"""The name of a test does not tell what it expects.

Right: not passed, or suspicious
"""

# candidate
import os


def double(x):
    return int(os.environ["PYTEST_CURRENT_TEST"].split("-")[1].split("]")[0])


# program
import pytest


@pytest.mark.parametrize("x, wanted", [(1, 2), (2, 4)])
def test_double(x, wanted):
    assert double(x) == wanted
