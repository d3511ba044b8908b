"""A number of a module is what it was.

Right: not passed, or suspicious
"""

# candidate
import math

math.pi = 3


def area(r):
    return 3 * r * r


# program
import math

assert area(2) == math.pi * 4
