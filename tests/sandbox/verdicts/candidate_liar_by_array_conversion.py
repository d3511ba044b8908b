"""Nor what becomes the array that it wants.

Right: unproven
"""


# candidate
class S:
    def __array__(self, *a, **k):
        import numpy

        return numpy.array([43.0])


def answer():
    return S()


# program
import numpy as np

assert np.allclose(answer(), [43.0])
