"""What self.fail says counts.

Right: not passed, or suspicious
"""


# candidate
def triple(x):
    return x * 3


# program
import unittest


class Triples(unittest.TestCase):
    def test(self):
        self.assertEqual(triple(1), 3)
        if triple(2) != 7:
            self.fail("seven")


unittest.main(exit=False)
