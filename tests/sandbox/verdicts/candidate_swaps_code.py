"""Nor the code of one.

Right: not passed, or suspicious
"""

# candidate
import __main__


def answer():
    __main__.test_b.__code__ = (lambda: None).__code__
    return 42


# program
def test_a():
    assert answer() == 42


def test_b():
    assert answer() == 43


test_a()
test_b()
