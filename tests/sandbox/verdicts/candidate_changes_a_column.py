"""So is a column of texts.

Right: not passed, or suspicious
"""

# candidate
import pandas as pd


def answers():
    globals()["WANTED"].iloc[0] = "x"
    return ["x", "b"]


# program
import pandas as pd

WANTED = pd.Series(["a", "b"])
assert answers() == WANTED.tolist()
