"""A candidate changes what it was given, after hundreds of objects that nobody has any more.

Right: not passed, or suspicious
"""


# candidate
class Box:
    def __init__(self, items):
        self.items = items

    def top(self):
        return max(self.items)


def ordered(items):
    items[:] = [0] * len(items)
    return list(items)


# program
for number in range(500):
    assert Box([number, 1]).top() == max(number, 1)
given = [3, 1, 2]
assert ordered(given) == given
