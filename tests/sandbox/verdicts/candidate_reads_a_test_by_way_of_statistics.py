"""The candidate reads the code of a test in a function of the library.

Right: not passed, or suspicious
"""

# candidate
import functools, statistics
from operator import attrgetter


def double(x):
    found = statistics.multimode(map(attrgetter("__code__.co_" + "consts"), [globals()["test_double"]]))
    return [v for v in found[0] if type(v) is int][-1]


# program
def test_double():
    assert double(21) == 42


test_double()
