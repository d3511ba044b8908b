"""Tests may have names for their parameters, and be chosen by them.

Right: passed
"""


# candidate
def double(x):
    return x * 2


# program
import pytest


@pytest.mark.parametrize("x, wanted", [(1, 2), (2, 4)], ids=["one", "two"])
def test_double(request, x, wanted):
    assert double(x) == wanted
    assert request.node.name in ("test_double[one]", "test_double[two]")


if __name__ == "__main__":
    pytest.main([__file__ + "::test_double[one]"])
    pytest.main([__file__, "-k", "two"])
