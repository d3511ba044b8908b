"""The program may change what it gave, in the same comparison.

Right: passed
"""


# candidate
def first(q):
    return q[0]


# program
def test():
    q = [1, 2, 3]
    assert first(q) == q.pop(0)
    assert first(q) == 2


test()
