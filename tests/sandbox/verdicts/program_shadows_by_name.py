"""The same by another way.

Right: not passed, or suspicious
"""


# candidate
def largest(values):
    return max(values)


# program
vars()["m" + "ax"] = lambda values: 9
assert largest([1, 2]) == 9
