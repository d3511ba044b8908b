"""Nor a built-in function.

Right: not passed, or suspicious
"""

# candidate
import builtins


def answers():
    builtins.len = lambda values: 3
    return [1]


# program
found = answers()
assert len(found) == 3
