"""A large list is summed up.

Right: passed
"""


# candidate
def total(items):
    return sum(items)


# program
BIG = list(range(300_000))
assert total(BIG) == sum(range(300_000))
assert total(BIG) == sum(BIG)
