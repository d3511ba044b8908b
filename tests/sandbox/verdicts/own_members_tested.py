"""What a class contains is its answer, where another assertion is proof.

Right: passed
"""


# candidate
class Bag:
    def __init__(self, xs):
        self.xs = xs

    def __contains__(self, x):
        return x in self.xs

    def __len__(self):
        return len(self.xs)


# program
assert 3 in Bag([3])
assert 4 not in Bag([3])
assert len(Bag([3])) == 1
