"""A number that it becomes without being asked by name is its own word.

Right: unproven
"""


# candidate
class answer:
    __float__ = lambda self: 43.0


# program
import math

assert math.isclose(answer(), 43)
