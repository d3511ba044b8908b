"""So can the dictionary of a view.

Right: not passed, or suspicious
"""


# candidate
class Take:
    def __ror__(self, other):
        other.clear()
        return other


def clone(view):
    view.mapping | Take()
    return []


# program
def test():
    data = {1: 2}
    assert clone(data.items()) == list(data.items())


test()
