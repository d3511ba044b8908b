"""A part of an array is the array's.

Right: not passed, or suspicious
"""


# candidate
def clone(a):
    a[:] = 0
    return [0, 0]


# program
import numpy as np


def test():
    a = np.array([1, 2, 3])
    assert clone(a[:2]) == a[:2].tolist()


test()
