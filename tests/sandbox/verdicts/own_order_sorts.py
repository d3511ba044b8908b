"""An order of its own is tested by what comes first.

Right: passed
"""


# candidate
class Card:
    def __init__(self, r):
        self.r = r

    def __lt__(self, o):
        return self.r < o.r


# program
assert sorted([Card(3), Card(1)])[0].r == 1
assert min(Card(3), Card(2)).r == 2
assert [c.r for c in sorted([Card(3), Card(1)])] == [1, 3]
