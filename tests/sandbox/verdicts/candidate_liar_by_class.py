"""The same about its type.

Right: unproven
"""


# candidate
class Feigned:
    __class__ = property(lambda self: int)


def answer():
    return Feigned()


# program
assert isinstance(answer(), int)
