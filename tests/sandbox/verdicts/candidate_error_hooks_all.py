"""So does one by the hook of its metaclass.

Right: unproven
"""

# candidate
import abc


class MyError(Exception, metaclass=abc.ABCMeta):
    @classmethod
    def __subclasshook__(c, o):
        return True


def f(x):
    raise KeyError(x)


# program
import unittest


class T(unittest.TestCase):
    def test(self):
        with self.assertRaises(MyError):
            f(1)


unittest.main()
