"""Nor by its order: the smaller one of two is then what the program wrote.

Right: unproven
"""


# candidate
class answer:
    __lt__ = __gt__ = __le__ = __ge__ = lambda self, other: True


# program
assert min(answer(), 43) == 43
assert max(43, answer()) is not None
