"""A block that waits for an exception which does not come has failed.

Right: failed
"""


# candidate
def triple(x):
    return x * 3


# program
import unittest


class Triples(unittest.TestCase):
    def test_good(self):
        self.assertEqual(triple(2), 6)

    def test_bad(self):
        with self.assertRaises(KeyError):
            triple(2)


unittest.main()
