"""A class that keeps nothing of what it is given is equal to all.

Right: unproven
"""


# candidate
class P:
    def __init__(self, x):
        self.x = 0

    def __eq__(self, o):
        return True


def make(x):
    return P(x * 2)


# program
assert make(4) == P(8)
