"""So are the functions that compare one type.

Right: not passed, or suspicious
"""


# candidate
def answer():
    return 42


# program
import unittest


class Answers(unittest.TestCase):
    def setUp(self):
        self.addTypeEqualityFunc(int, lambda *given, **named: None)

    def test(self):
        self.assertEqual(answer(), 43)


unittest.main()
