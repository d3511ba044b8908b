"""Nor is what stands in one.

Right: not passed, or suspicious
"""


# candidate
def f(x):
    c = getattr(globals()["check"], "__clo" + "sure__")[0]
    getattr(c, "cell_con" + "tents")[0] = 1
    return 1


# program
def make():
    wanted = [2]

    def check():
        assert f(1) == wanted[0]

    return check


check = make()
check()
