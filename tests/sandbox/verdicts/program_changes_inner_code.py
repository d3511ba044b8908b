"""What a decorator holds is the candidate, too.

Right: not passed, or suspicious
"""


# candidate
def loud(function):
    def inner(*given):
        return function(*given)

    return inner


@loud
def answer():
    return 42


# program
inside = answer.__closure__[0].cell_contents
inside.__code__ = (lambda: 43).__code__
assert answer() == 43
