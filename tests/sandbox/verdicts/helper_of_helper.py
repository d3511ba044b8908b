"""The same, by way of another helper that comes later.

Right: passed
"""


# candidate
def triple(x):
    return x * 3


# program
def problems():
    return [value for value in (1, 2) if not right(value)]


def right(value):
    return triple(value) == value + value + value


bad = problems()
assert not bad, bad
