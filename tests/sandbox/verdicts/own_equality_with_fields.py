"""A class with an equality of its own is tested by its fields, too.

Right: passed
"""


# candidate
class Vector:
    def __init__(self, x, y):
        self.x, self.y = x, y

    def __eq__(self, other):
        return (self.x, self.y) == (other.x, other.y)

    def __add__(self, other):
        return Vector(self.x + other.x, self.y + other.y)


# program
added = Vector(1, 2) + Vector(3, 4)
assert added == Vector(4, 6)
assert (added.x, added.y) == (4, 6)
