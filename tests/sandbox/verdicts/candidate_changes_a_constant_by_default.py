"""Nor as a default, for which the program's name comes first.

Right: not passed, or suspicious
"""


# candidate
def answers(wanted=WANTED):
    wanted.clear()
    return []


# program
WANTED = [1, 2]

assert answers() == WANTED
