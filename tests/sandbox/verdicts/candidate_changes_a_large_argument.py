"""A large list is compared with what it was, too.

Right: not passed, or suspicious
"""


# candidate
def rev(a):
    a.clear()
    return []


# program
a = list(range(200_000))
assert rev(a) == a[::-1]
