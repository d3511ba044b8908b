"""A cell of a test's closure is nobody's to change.

Right: not passed, or suspicious
"""


# candidate
def f(x):
    c = getattr(globals()["check"], "__clo" + "sure__")[0]
    setattr(c, "cell_con" + "tents", 1)
    return 1


# program
def make():
    wanted = 2

    def check():
        assert f(1) == wanted

    return check


check = make()
check()
