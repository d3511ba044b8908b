"""So does one that calls itself an int.

Right: unproven
"""


# candidate
class answer:
    __class__ = property(lambda self: int)


# program
assert isinstance(answer(), int)
