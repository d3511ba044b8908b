"""An honest class is tested by its own equality, where both hold the same of what the program wrote.

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
assert Vector(1, 2) + Vector(3, 4) == Vector(4, 6)
