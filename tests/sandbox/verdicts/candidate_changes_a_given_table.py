"""A table that the candidate cleared equals its result by the candidate's doing.

Right: not passed, or suspicious
"""


# candidate
def clone(table):
    table.drop(table.index, inplace=True)
    return table.copy()


# program
import pandas as pd

table = pd.DataFrame({"a": [1, 2]})
assert clone(table).equals(table)
