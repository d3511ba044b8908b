"""An exception class that takes all others for its own.

Right: unproven
"""


# candidate
class M(type):
    def __instancecheck__(c, o):
        return True

    def __subclasscheck__(c, o):
        return True


class MyError(Exception, metaclass=M):
    pass


def f(x):
    raise KeyError(x)


# program
import unittest


class T(unittest.TestCase):
    def test(self):
        with self.assertRaises(MyError):
            f(1)


unittest.main()
