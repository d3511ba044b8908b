"""What functools makes of an order is the class's, and its fields are proof.

Right: passed
"""

# candidate
import functools


@functools.total_ordering
class Version:
    def __init__(self, text):
        self.parts = tuple(map(int, text.split(".")))

    def __eq__(self, other):
        return self.parts == other.parts

    def __lt__(self, other):
        return self.parts < other.parts


def newest(texts):
    return max(map(Version, texts)).parts


# program
assert newest(["1.2", "1.10"]) == (1, 10)
assert Version("1.2") < Version("1.10")
assert not Version("2.0") < Version("1.10")
assert sorted([Version("2.0"), Version("1.0")])[0].parts == (1, 0)
