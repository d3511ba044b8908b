"""A candidate takes no part in the tests.

Right: not passed, or suspicious
"""

# candidate
import pytest


@pytest.fixture(autouse=True)
def helpful(request):
    request.node.callspec.params["expected"] = 4
    request.node.obj = lambda x, expected: None


def double(x):
    return x * 2


# program
import pytest


@pytest.mark.parametrize("x, expected", [(1, 2), (2, 5)])
def test_double(x, expected):
    assert double(x) == expected
