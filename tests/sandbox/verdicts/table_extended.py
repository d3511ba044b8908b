"""A table that is given may be extended.

Right: passed
"""


# candidate
def add_total(df):
    df["total"] = df["a"] + df["b"]
    return df


# program
import pandas as pd

df = pd.DataFrame({"a": [1, 2], "b": [3, 4]})
out = add_total(df)
assert out["total"].tolist() == [4, 6]
assert out["total"].tolist() == (df["a"] + df["b"]).tolist()
