"""A runner whose result is kept runs after the candidate.

Right: passed
"""


# candidate
def half(x):
    return x / 2


# program
import unittest


class Halves(unittest.TestCase):
    def test(self):
        self.assertAlmostEqual(half(3), 1.5)


suite = unittest.defaultTestLoader.loadTestsFromName("Halves", __import__("__main__"))
outcome = unittest.TextTestRunner(verbosity=0).run(suite)
assert not outcome.failures
