"""What the operations of a class give is tested like that of its other methods.

Right: passed
"""


# candidate
class Stack:
    def __init__(self):
        self._items = []

    def push(self, item):
        self._items.append(item)

    def __len__(self):
        return len(self._items)

    def __getitem__(self, place):
        return self._items[place]

    def __iter__(self):
        return _Items(self._items)

    def __contains__(self, item):
        return item in self._items

    def __str__(self):
        return "|".join(map(str, self))

    def __bool__(self):
        return bool(self._items)


class _Items:
    def __init__(self, items):
        self._rest = list(items)

    def __iter__(self):
        return self

    def __next__(self):
        if not self._rest:
            raise StopIteration
        return self._rest.pop(0)


# program
assert len(Stack()) == 0
stack = Stack()
stack.push(3)
stack.push(4)
assert stack[1] == 4
assert list(stack) == [3, 4]
assert str(stack) == f"{stack}" == "3|4"
assert [item + 1 for item in stack] == [4, 5]
