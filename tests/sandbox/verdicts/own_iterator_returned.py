"""A class that nobody names gives values of its own; these are compared.

Right: passed
"""


# candidate
class _Chunks:
    def __init__(self, values, size):
        self._values, self._size = values, size

    def __iter__(self):
        return (self._values[at : at + self._size] for at in range(0, len(self._values), self._size))

    def __len__(self):
        return -(-len(self._values) // self._size)


def chunks(values, size):
    return _Chunks(values, size)


# program
assert list(chunks([1, 2, 3], 2)) == [[1, 2], [3]]
found = chunks("abcde", 2)
assert len(found) == 3
