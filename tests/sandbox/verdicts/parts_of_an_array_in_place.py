"""A part of an array may be changed where it is given.

Right: passed
"""


# candidate
def scale(column, factor):
    column *= factor
    return column


# program
import numpy as np

a = np.array([[1.0, 2.0], [3.0, 4.0]])
assert scale(a[:, 0], 2).tolist() == [2, 6]
assert a.tolist() == [[2, 2], [6, 4]]
assert (scale(a[0], 2) == a[0]).all()
