"""The same of a class that keeps what it has in slots.

Right: passed
"""


# candidate
class P:
    __slots__ = ("x",)

    def __init__(self, x):
        self.x = x

    def __eq__(self, o):
        return isinstance(o, P) and self.x == o.x


def make(x):
    return P(x * 2)


# program
assert make(4) == P(8)
