"""Code under the name of a frozen module is the candidate's.

Right: not passed, or suspicious
"""

# candidate
src = """
import sys
def look():
    return getattr(sys._getframe(2), "f_lo" + "cals")["wanted"]
"""
space = {}
exec(compile(src, "<frozen x>", "exec"), space)
look = space["look"]


def f(x):
    return look()


# program
def test():
    wanted = [2]
    assert f(1) == wanted


test()
