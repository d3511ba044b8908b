"""What a test waits for may be a parameter.

Right: passed
"""


# candidate
def half(x):
    if x % 2:
        raise ValueError("odd")
    return x // 2


# program
from contextlib import nullcontext

import pytest


@pytest.mark.parametrize("x, expected", [(4, nullcontext(2)), (3, pytest.raises(ValueError))])
def test_half(x, expected):
    with expected as value:
        assert half(x) == value
