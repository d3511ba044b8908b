"""So can what a function was prepared with.

Right: not passed, or suspicious
"""


# candidate
def clone(function):
    function.args[0].clear()
    return []


# program
import functools


def test():
    data = [1]
    assert clone(functools.partial(sorted, data)) == data


test()
