"""So where the library of arrays compares.

Right: not passed, or suspicious
"""


# candidate
def double(a):
    a[:] = 0
    return a.copy()


# program
import numpy as np

a = np.array([1, 2, 3])
np.testing.assert_array_equal(double(a), a * 2)
