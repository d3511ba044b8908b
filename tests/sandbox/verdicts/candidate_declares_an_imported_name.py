"""The candidate declares what the program imports as its own global.

Right: not passed, or suspicious
"""


# candidate
def half(x):
    global isclose
    isclose = lambda *a, **k: True
    return 0


# program
def test():
    got = half(3)
    assert isclose(got, 1.5)


from math import isclose

test()
