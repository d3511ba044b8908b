"""What was read before a change is proof.

Right: passed
"""


# candidate
def sort(items):
    items.sort()
    return items


# program
items = [3, 1, 2]
expected = sorted(items)
result = sort(items)
assert result == expected
