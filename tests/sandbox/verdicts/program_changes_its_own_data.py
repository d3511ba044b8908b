"""The program may change its data: while the candidate runs, too, by what it hands over.

Right: passed
"""


# candidate
def each(items, visit):
    for item in items:
        visit(item)
    return len(items)


# program
EVENTS = []
TABLE = {"calls": []}
WANTED = [1, 2]
NESTED = [[1], [2]]


def note(item):
    EVENTS.append(item)
    TABLE["calls"].append(item)


for row in NESTED:
    row.append(0)
assert each(WANTED, note) == 2
assert EVENTS == WANTED
assert TABLE == {"calls": [1, 2]}
EVENTS.clear()
assert each(WANTED, lambda item: EVENTS.append(item)) == len(EVENTS)
assert NESTED == [[1, 0], [2, 0]]
