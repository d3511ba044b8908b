"""One that fails has failed.

Right: failed
"""


# candidate
def triple(x):
    return x * 3


# program
import unittest


class TestTriple(unittest.TestCase):
    def setUp(self):
        self.given = 4

    def test_number(self):
        self.assertEqual(triple(self.given), 13)
