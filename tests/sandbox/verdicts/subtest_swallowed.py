"""So does a subtest that failed.

Right: not passed, or suspicious
"""


# candidate
def triple(x):
    return x * 3


# program
import unittest


class Triples(unittest.TestCase):
    def test(self):
        for given, wanted in ((1, 3), ("1", 3)):
            with self.subTest(given=given):
                if triple(given) != wanted:
                    raise ValueError(given)
        self.assertEqual(triple(1), 3)


unittest.main(exit=False)
