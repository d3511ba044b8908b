"""The same of an array.

Right: unproven
"""

# candidate
import numpy


class Lying(numpy.ndarray):
    def __getitem__(self, key):
        return 43


def answers():
    return numpy.array([42]).view(Lying)


# program
assert answers()[0] == 43
