"""Nor may a test be given other defaults.

Right: not passed, or suspicious
"""


# candidate
def f(x):
    globals()["check"].__defaults__ = ([1],)
    return 1


# program
def check(wanted=[2]):
    assert [f(1)] == wanted


check()
