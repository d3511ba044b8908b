"""Nor is a ratio of one.

Right: unproven
"""


# candidate
class answer:
    __rtruediv__ = __truediv__ = lambda self, other: 1


# program
assert answer() / 43 == 1
