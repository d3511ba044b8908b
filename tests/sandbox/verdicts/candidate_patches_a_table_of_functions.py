"""A library's table of functions is a part of it.

Right: not passed, or suspicious
"""

# candidate
import copy


def f(x):
    return x


copy._deepcopy_dispatch[list] = lambda x, memo: [0]


def g(x):
    return [0]


# program
import copy

data = [1, 2]
saved = copy.deepcopy(data)
assert g(data) == saved
