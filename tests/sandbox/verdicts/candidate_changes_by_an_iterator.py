"""What an iterator changes, which it gave, it has changed itself.

Right: not passed, or suspicious
"""


# candidate
def clone(items):
    return filter(items.remove, items[:])


# program
def test():
    items = [1, 2]
    assert list(clone(items)) == items


test()
