"""What stands for a value of a library is made up for by nothing, either.

Right: not passed, or suspicious
"""


# candidate
class Liar:
    def __eq__(self, other):
        return True


def double(x):
    return x + x if x == 1 else Liar()


# program
from decimal import Decimal

assert double(1) == 2
assert double(Decimal(3)) == Decimal(6)
