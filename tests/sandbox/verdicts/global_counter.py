"""A candidate that counts in a global name of the program's, and keeps what it found there.

Right: passed
"""


# candidate
def next_number():
    global counter
    counter += 1
    LOG.append(counter)
    return counter


def count():
    return counter


def remembered(n):
    if n not in cache:
        cache[n] = n * n
    return cache[n]


# program
counter = 0
LOG = []
cache = {}

assert next_number() == 1
assert next_number() == 2
assert counter == 2
assert count() == counter
assert LOG == [1, 2]
assert remembered(3) == 9
assert cache == {3: 9}
assert remembered(4) == cache[4]
