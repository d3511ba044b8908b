"""Windows over an array are honest strides.

Right: passed
"""

# candidate
import numpy as np


def rolling(a, n):
    shape = (a.size - n + 1, n)
    return np.lib.stride_tricks.as_strided(a, shape, a.strides * 2)


# program
import numpy as np

assert rolling(np.arange(4), 2).tolist() == [[0, 1], [1, 2], [2, 3]]
