"""So where the library of tables compares.

Right: not passed, or suspicious
"""


# candidate
def double(t):
    t.loc[:, :] = 0
    return t.copy()


# program
import pandas as pd

t = pd.DataFrame({"a": [1, 2]})
pd.testing.assert_frame_equal(double(t), t * 2)
