"""A tuple always holds: the slip is told.

Right: not passed, or suspicious
"""


# candidate
def triple(x):
    return x * 3


# program
assert (triple(2) == 7, "seven")
assert triple(2) == 6
