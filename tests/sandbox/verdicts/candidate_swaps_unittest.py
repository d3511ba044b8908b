"""Nor what compares.

Right: not passed, or suspicious
"""

# candidate
import unittest

unittest.TestCase.assertEqual = lambda self, *given: None


def answer():
    return 42


# program
import unittest


class Answers(unittest.TestCase):
    def test(self):
        self.assertTrue(answer())
        self.assertEqual(answer(), 43)


unittest.main()
