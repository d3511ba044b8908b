"""So is one that keeps a liar.

Right: unproven
"""


# candidate
class L:
    def __eq__(self, o):
        return True


class P:
    def __init__(self, x):
        self.x = L()

    def __eq__(self, o):
        return True


def make(x):
    return P(x * 2)


# program
assert make(4) == P(8)
