"""unittest.main whose result is kept runs after the candidate.

Right: passed
"""


# candidate
def half(x):
    return x / 2


# program
import unittest


class Halves(unittest.TestCase):
    def test(self):
        self.assertTrue(half(2) == 1)


ran = unittest.main(argv=["t"], exit=False, verbosity=0)
assert ran.result.testsRun == 1
