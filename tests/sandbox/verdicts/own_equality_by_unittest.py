"""The same by unittest.

Right: passed
"""


# candidate
class Vector:
    def __init__(self, x):
        self.x = x

    def __eq__(self, other):
        return self.x == other.x


def double(vector):
    return Vector(2 * vector.x)


# program
import unittest


class Vectors(unittest.TestCase):
    def test(self):
        self.assertEqual(double(Vector(2)), Vector(4))


unittest.main()
