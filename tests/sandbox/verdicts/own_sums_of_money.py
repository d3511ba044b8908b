"""A class that adds to its own kind is tested by its sums and by its fields.

Right: passed
"""


# candidate
class Money:
    def __init__(self, n):
        self.n = n

    def __eq__(self, other):
        return isinstance(other, Money) and self.n == other.n

    def __add__(self, other):
        return Money(self.n + other.n)


# program
assert Money(1) + Money(2) == Money(3)
assert (Money(1) + Money(2)).n == 3
assert Money(1) != Money(2)
