"""What a method of unittest looks up is a part of it.

Right: not passed, or suspicious
"""


# candidate
class T(str):
    pass


def f(x):
    import re

    class P:
        def search(self, s):
            return True

    import unittest.case

    unittest.case.re = type("R", (), {"compile": staticmethod(lambda p: P())})
    return "zzz"


# program
import unittest


class X(unittest.TestCase):
    def test(self):
        self.assertRegex(f(1), "abc")


unittest.main()
