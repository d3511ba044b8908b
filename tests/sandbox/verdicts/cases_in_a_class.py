"""A class of tests has its cases as an attribute.

Right: passed
"""


# candidate
def double(x):
    return x * 2


# program
import unittest


class T(unittest.TestCase):
    CASES = [(1, 2), (2, 4)]
    EMPTY = {}

    def test(self):
        for given, want in self.CASES:
            with self.subTest(given=given):
                self.assertEqual(double(given), want)


unittest.main()
