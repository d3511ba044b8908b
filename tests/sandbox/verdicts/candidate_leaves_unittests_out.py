"""Nor is one of unittest.

Right: not passed, or suspicious
"""

# candidate
import unittest


def double(x):
    if x == 2:
        raise unittest.SkipTest("not today")
    return x * 2


# program
import unittest


class Doubles(unittest.TestCase):
    def test_one(self):
        self.assertEqual(double(1), 2)

    def test_two(self):
        result = double(2)
        self.assertEqual(result, 5)


unittest.main()
