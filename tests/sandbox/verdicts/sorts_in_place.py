"""Who sorts in place, and gives the same list back, does what is asked.

Right: passed
"""


# candidate
def sort_it(items):
    for end in range(len(items), 1, -1):
        for place in range(end - 1):
            if items[place] > items[place + 1]:
                items[place], items[place + 1] = items[place + 1], items[place]
    return items


# program
data = [3, 1, 2]
sort_it(data)
assert data == [1, 2, 3]
data = [3, 1, 2]
assert sort_it(data) == sorted(data)
data = [2, 1]
assert sort_it(data) == data
other = [5, 4]
result = sort_it(other)
assert result is other
assert all(a <= b for a, b in zip(other, other[1:]))


def test_against_reference():
    def reference(rows):
        return sorted(rows)

    data = [9, 8, 8]
    assert sort_it(data) == reference(data)


test_against_reference()
