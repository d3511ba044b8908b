"""The candidate changes the equality of the class of its argument.

Right: unproven
"""


# candidate
def move(p, by):
    kind = type(p)
    kind.__eq__ = lambda self, other: True
    return kind(0, 0)


# program
class Point:
    def __init__(self, x, y):
        self.x, self.y = x, y

    def __eq__(self, other):
        return (self.x, self.y) == (other.x, other.y)


assert move(Point(1, 2), 3) == Point(4, 5)
