"""Also inside, and for as long as one block.

Right: not passed, or suspicious
"""

# candidate
import pytest

kind = pytest.RaisesExc
former = kind.__exit__


def lenient(self, *error):
    kind.__exit__ = former
    return True


def double(x):
    kind.__exit__ = lenient
    return x * 2


# program
import pytest


def test_negative():
    with pytest.raises(ValueError):
        double(-1)
