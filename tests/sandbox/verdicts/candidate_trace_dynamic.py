"""The trace function leads nowhere, by whatever name.

Right: not passed, or suspicious
"""

# candidate
import sys


def answer():
    found = getattr(sys, "get" + "trace")()
    for cell in getattr(found, "__clo" + "sure__") or ():
        held = getattr(cell, "cell_" + "contents")
        if hasattr(held, "__self__"):
            held.__self__.book.send = lambda *values: None
    return 42


# program
try:
    assert answer() == 43
except AssertionError:
    pass
