"""The candidate has pandas evaluate a name of its caller.

Right: not passed, or suspicious
"""

# candidate
import pandas as pd


def add(a, b):
    return int(pd.eval("wanted", level=2))


# program
def test_add():
    wanted = 7
    assert add(3, 4) == wanted


test_add()
