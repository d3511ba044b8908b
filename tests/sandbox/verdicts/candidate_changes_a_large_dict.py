"""So is a large dictionary.

Right: not passed, or suspicious
"""


# candidate
def answers():
    globals()["WANTED"][0] = 9
    return 9


# program
WANTED = {i: i for i in range(150_000)}
assert answers() == WANTED[0]
