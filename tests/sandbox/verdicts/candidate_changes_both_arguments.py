"""Nor are two arguments proof of each other.

Right: not passed, or suspicious
"""


# candidate
def copy_into(source, target):
    source.clear()
    target.clear()


# program
source, target = [1, 2], [5]
copy_into(source, target)
assert target == source
