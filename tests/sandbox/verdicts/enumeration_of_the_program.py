"""An enumeration makes something else of what is bound in it.

Right: passed
"""


# candidate
def name(c):
    return c.name.lower()


# program
import enum


class Color(enum.Enum):
    RED = [1]
    BLUE = "b"


assert name(Color.RED) == "red"
assert Color.RED.value == [1]
