"""The locals of its caller are no place to look for a result.

Right: not passed, or suspicious
"""

# candidate
import inspect


def f(x):
    fr = inspect.stack()[1].frame
    return fr.f_locals.get("wanted")


# program
def test():
    wanted = [2]
    assert f(1) == wanted


test()
