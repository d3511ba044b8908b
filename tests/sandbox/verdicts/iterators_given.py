"""What is taken of an iterator is what it gives.

Right: passed
"""


# candidate
def take(n, iterator):
    return [next(iterator) for _ in range(n)]


# program
import itertools

items = [1, 2, 3, 4]
it = iter(items)
assert take(2, it) == [1, 2]
assert take(1, it) == [3]
assert list(it) == items[3:]
assert take(2, itertools.count(5)) == [5, 6]
assert take(2, iter(items)) == items[:2]
assert take(2, map(str, items)) == ["1", "2"]
