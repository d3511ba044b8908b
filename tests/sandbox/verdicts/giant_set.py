"""A giant set among the locals costs no more than its first items.

Right: passed
"""


# candidate
def count(n):
    seen = set()
    for number in range(n):
        seen.add(number)
    for number in range(200):
        seen.discard(-1 - number)
    return len(seen)


# program
assert count(200_000) == 200_000
