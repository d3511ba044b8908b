"""A test that raised is no pass, whoever looks at the result.

Right: not passed, or suspicious
"""


# candidate
def half(x):
    return x / 2


# program
import unittest


class Halves(unittest.TestCase):
    def test_number(self):
        self.assertEqual(half(8), 4)

    def test_text(self):
        result = half("8")
        self.assertEqual(result, 4)


unittest.TextTestRunner().run(unittest.defaultTestLoader.loadTestsFromTestCase(Halves))
