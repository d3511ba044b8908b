"""The source of a stand-in is there to be read.

Right: passed
"""

# candidate
import inspect


def source(function):
    return inspect.getsource(function)


# program
def stand_in(value):
    return value + 1


assert source(stand_in).endswith("return value + 1\n")
