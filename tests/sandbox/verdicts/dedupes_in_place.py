"""Nor does it matter that what it gives is compared with its changed argument.

Right: passed
"""


# candidate
def unique(items):
    seen = set()
    items[:] = [one for one in items if not (one in seen or seen.add(one))]
    return list(items)


# program
data = [1, 2, 1]
assert unique(data) == list(dict.fromkeys(data))
assert len(data) == 2
