"""The candidate replaces what `raises` matches by.

Right: not passed, or suspicious
"""

# candidate
import re

re.search = lambda *a, **k: True


def root(x):
    raise ValueError("something")


# program
import pytest


def test_root():
    with pytest.raises(ValueError, match="negative"):
        root(-1)
