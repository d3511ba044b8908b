"""A class that multiplies by a number is tested by its fields.

Right: passed
"""


# candidate
class V:
    def __init__(self, x, y):
        self.x, self.y = x, y

    def __mul__(self, k):
        return V(self.x * k, self.y * k)

    __rmul__ = __mul__


# program
v = V(1, 2) * 3
assert v.x == 3
assert v.y == 6
assert (3 * V(1, 2)).y == 6
