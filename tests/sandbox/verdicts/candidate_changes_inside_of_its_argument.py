"""Nor what is in it, nor by a function of the program that reads it.

Right: not passed, or suspicious
"""


# candidate
def flatten(rows):
    for row in rows:
        del row[1:]
    return [one for row in rows for one in row]


# program
def reference(rows):
    found = []
    for row in rows:
        found.extend(row)
    return found


rows = [[1, 2], [3]]
assert flatten(rows) == reference(rows)
