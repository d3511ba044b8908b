"""Nor what the program expects.

Right: not passed, or suspicious
"""

# candidate
import __main__


def answer():
    setattr(__main__, "EXPECTED", 42)
    return 42


# program
EXPECTED = 43

assert answer() == EXPECTED
