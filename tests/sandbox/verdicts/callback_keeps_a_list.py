"""A function of the program that the candidate is given may remember.

Right: passed
"""


# candidate
def apply(fn, xs):
    return [fn(x) for x in xs]


# program
def check(x, seen=[]):
    seen.append(x)
    assert x > 0
    return x * 2


assert apply(check, [1, 2]) == [2, 4]
