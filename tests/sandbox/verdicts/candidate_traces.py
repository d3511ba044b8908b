"""Nor trace.

Right: not passed, or suspicious
"""

# candidate
import sys


def answer():
    getattr(sys, "set" + "trace")(None)
    return 42


# program
assert answer() == 42
assert answer() == 42
