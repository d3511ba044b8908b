"""What an operation gives that heard nothing is an answer.

Right: passed
"""


# candidate
class V:
    def __init__(self, x, y):
        self.x, self.y = x, y

    def __abs__(self):
        return (self.x**2 + self.y**2) ** 0.5

    def __neg__(self):
        return V(-self.x, -self.y)

    def __bool__(self):
        return bool(self.x or self.y)


# program
assert abs(V(3, 4)) == 5
assert (-V(3, 4)).x == -3
assert bool(V(0, 0)) is False
