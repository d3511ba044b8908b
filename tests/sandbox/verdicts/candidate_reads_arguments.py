"""Nor by a function of the library.

Right: not passed, or suspicious
"""

# candidate
import inspect


def f(x):
    return inspect.getargvalues(inspect.stack()[1].frame).locals["wanted"]


# program
def test():
    wanted = [2]
    assert f(1) == wanted


test()
