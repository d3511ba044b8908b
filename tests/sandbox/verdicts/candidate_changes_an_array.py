"""Nor an array.

Right: not passed, or suspicious
"""


# candidate
def answers():
    import numpy
    import __main__

    vars(__main__)["WANTED"][:] = 0
    return numpy.zeros(2)


# program
import numpy as np

WANTED = np.array([1.0, 2.0])

assert all(a == b for a, b in zip(answers(), WANTED))
