"""So is one that unittest compares.

Right: passed
"""


# candidate
class T:
    def __init__(self, c):
        self.c = c

    def __add__(self, d):
        return T(self.c + d)


# program
import unittest


class X(unittest.TestCase):
    def test(self):
        self.assertAlmostEqual((T(20) + 5).c, 25.0)


unittest.main()
