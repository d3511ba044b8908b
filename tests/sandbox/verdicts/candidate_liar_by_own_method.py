"""An object may have a method of its own in the place of its class's.

Right: unproven
"""

# candidate
import pandas as pd


def f(x):
    s = pd.Series([9])
    s.tolist = lambda: [1, 2]
    return s


# program
assert f(1).tolist() == [1, 2]
