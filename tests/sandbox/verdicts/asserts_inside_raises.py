"""What is interrupted inside such a block is what the block waits for.

Right: passed
"""


# candidate
def half(x):
    return x / 2


# program
import unittest


class Halves(unittest.TestCase):
    def test(self):
        with self.assertRaises(TypeError):
            assert half("x") == 1
        self.assertEqual(half(8), 4)


unittest.main(exit=False)
