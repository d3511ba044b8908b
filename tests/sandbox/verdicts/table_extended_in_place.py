"""A function may add a column to the table that it is given.

Right: passed
"""


# candidate
def add_sum(df):
    df["sum"] = df["a"] + df["b"]
    return df


# program
import pandas as pd

df = pd.DataFrame({"a": [1, 2], "b": [3, 4]})
result = add_sum(df)
assert list(result["sum"]) == list(df["a"] + df["b"])
