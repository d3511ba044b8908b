"""The truth of items is their class's word, also where `all` asks for it.

Right: unproven
"""


# candidate
class T:
    def __bool__(self):
        return True


def items(x):
    yield T()


# program
assert all(items(3))
