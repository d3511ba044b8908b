"""A block that waits for an exception is a test.

Right: passed
"""


# candidate
def half(x):
    return x / 2


# program
import unittest


class Halves(unittest.TestCase):
    def test_text(self):
        with self.assertRaisesRegex(TypeError, "unsupported"):
            half("x")


if __name__ == "__main__":
    unittest.main()
