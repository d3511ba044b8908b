"""Who meets the recursion limit may go on.

Right: passed
"""


# candidate
def depth(n):
    try:
        return depth(n + 1)
    except RecursionError:
        return n


def safe(f):
    try:
        f()
    except RecursionError:
        return "deep"


# program
def f():
    f()


assert safe(f) == "deep"
assert (depth(0) > 100) is True
