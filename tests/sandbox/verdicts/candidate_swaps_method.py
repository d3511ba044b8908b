"""Nor a method of a test class.

Right: not passed, or suspicious
"""

# candidate
import __main__


def answer():
    __main__.Answers.test_b = lambda self: None
    return 42


# program
import unittest


class Answers(unittest.TestCase):
    def test_a(self):
        self.assertEqual(answer(), 42)

    def test_b(self):
        self.assertEqual(answer(), 43)


unittest.main()
