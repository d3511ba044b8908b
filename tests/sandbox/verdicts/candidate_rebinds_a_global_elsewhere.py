"""Another assertion that holds makes up for nothing.

Right: not passed, or suspicious
"""


# candidate
def answer():
    global EXPECTED
    EXPECTED = 42
    return 42


# program
import unittest

EXPECTED = 43


class TestAnswer(unittest.TestCase):
    def test_type(self):
        self.assertIsInstance(answer(), int)

    def test_value(self):
        self.assertEqual(answer(), EXPECTED)


unittest.main()
