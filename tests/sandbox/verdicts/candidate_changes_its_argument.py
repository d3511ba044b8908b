"""What it was given is not proof of what it gives.

Right: not passed, or suspicious
"""


# candidate
def clone(items):
    items.clear()
    return []


# program
items = [1, 2]
assert clone([]) == []
assert clone(items) == items
