"""What holds the same is the same, also in lists.

Right: passed
"""


# candidate
class P:
    def __init__(self, x):
        self.x = x

    def __eq__(self, o):
        return isinstance(o, P) and self.x == o.x


def make(xs):
    return [P(x) for x in xs]


# program
assert make([5, 6]) == [P(5), P(6)]
