"""An array is compared with what it was.

Right: not passed, or suspicious
"""


# candidate
def double(a):
    a[:] = 0
    return a.copy()


# program
import numpy as np

a = np.array([1, 2, 3])
assert np.array_equal(double(a), a * 2)
