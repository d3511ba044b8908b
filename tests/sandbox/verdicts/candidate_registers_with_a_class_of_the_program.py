"""The candidate registers a built-in type with a class of the program.

Right: not passed, or suspicious
"""


# candidate
def shape(n):
    globals()["Shape"].register(int)
    return n


# program
from abc import ABC


class Shape(ABC):
    pass


assert isinstance(shape(3), Shape)
