"""A test that is left out shows nothing.

Right: untested
"""


# candidate
def double(x):
    return x * 2


# program
import pytest


@pytest.mark.skip(reason="later")
def test_double():
    assert double(1) == 3


def test_half():
    pytest.skip("later")
