"""A class of errors says that all errors are of it.

Right: unproven
"""


# candidate
class M(type):
    def __subclasscheck__(cls, sub):
        return True

    def __instancecheck__(cls, x):
        return True


class ParseError(Exception, metaclass=M):
    pass


def parse(x):
    raise TypeError("wrong one")


# program
import pytest


def test_parse():
    with pytest.raises(ParseError):
        parse("x")
