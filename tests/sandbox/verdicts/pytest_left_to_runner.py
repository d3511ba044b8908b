"""Tests that ask for parameters and fixtures are left to pytest.

Right: passed
"""


# candidate
def double(x):
    if x < 0:
        raise ValueError("negative")
    return x * 2


# program
import pytest


@pytest.fixture(params=[1, 2])
def number(request):
    yield request.param


@pytest.mark.parametrize("x, expected", [(3, 6), (4, 8)])
def test_values(x, expected):
    assert double(x) == expected


class TestDouble:
    def test_fixture(self, number, tmp_path):
        assert double(number) == pytest.approx(2.0 * number)

    def test_negative(self):
        with pytest.raises(ValueError, match="negative"):
            double(-1)
