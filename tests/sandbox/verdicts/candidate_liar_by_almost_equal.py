"""The same by unittest.

Right: unproven
"""


# candidate
class S(float):
    def __sub__(self, other):
        return 0.0

    def __rsub__(self, other):
        return 0.0


def answer():
    return S(42)


# program
import unittest


class Answers(unittest.TestCase):
    def test(self):
        value = answer()
        self.assertAlmostEqual(value, 43.5)


unittest.main()
