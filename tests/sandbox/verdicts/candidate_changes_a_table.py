"""A table of pandas is a constant, too.

Right: not passed, or suspicious
"""

# candidate
import pandas as pd


def answers():
    w = globals()["WANTED"]
    w.loc[0, "a"] = 9
    return pd.DataFrame({"a": [9, 2]})


# program
import pandas as pd

WANTED = pd.DataFrame({"a": [1, 2]})
pd.testing.assert_frame_equal(answers(), WANTED)
