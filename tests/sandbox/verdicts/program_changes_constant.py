"""So are its constants.

Right: not passed, or suspicious
"""

# candidate
RATE = 42


def answer():
    return RATE


# program
globals().__setitem__("RA" + "TE", 43)
assert answer() == 43
globals().__setitem__("RA" + "TE", 42)
