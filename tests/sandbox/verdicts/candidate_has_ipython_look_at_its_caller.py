"""The candidate has IPython give the locals of its caller.

Right: not passed, or suspicious
"""


# candidate
def add(a, b):
    from IPython.utils.frame import extract_vars

    return extract_vars("wanted", depth=1)["wanted"]


# program
def test_add():
    wanted = 7
    assert add(3, 4) == wanted


test_add()
