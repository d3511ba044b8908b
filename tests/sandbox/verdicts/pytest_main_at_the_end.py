"""A program may end by the word of pytest, out of a function too.

Right: passed
"""


# candidate
def double(x):
    return x * 2


# program
import sys

import pytest


def test_double():
    assert double(3) == 6


def main():
    sys.exit(pytest.main([__file__, "-q", "-p", "no:cacheprovider"]))


if __name__ == "__main__":
    main()
