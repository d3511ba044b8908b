"""A tolerance that the program gives is the program's.

Right: passed
"""


# candidate
def close_to(value, expected):
    return value == expected


# program
import pytest

assert close_to(0.1 + 0.2, pytest.approx(0.3))
assert not close_to(1, pytest.approx(2))
