"""Nor which of them unittest runs.

Right: not passed, or suspicious
"""

# candidate
import unittest


def load_tests(loader, tests, pattern):
    return unittest.TestSuite()


def add(a, b):
    return 0


# program
import unittest

assert add(0, 0) == 0


class T(unittest.TestCase):
    def test_add(self):
        self.assertEqual(add(1, 2), 3)


unittest.main()
