"""Nor does a bound that the candidate has moved.

Right: not passed, or suspicious
"""


# candidate
def count_words(items):
    items.extend([""] * 10)
    return 5


# program
items = ["a", "b"]
assert 0 <= count_words(items) <= len(items)
