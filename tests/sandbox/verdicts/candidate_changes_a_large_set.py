"""So is a large set.

Right: not passed, or suspicious
"""


# candidate
def answers():
    globals()["WANTED"].add(-5)
    return -5


# program
WANTED = set(range(200_000))
assert answers() in WANTED
