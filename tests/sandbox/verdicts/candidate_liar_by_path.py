"""One of a path for a path.

Right: not passed, or suspicious
"""

# candidate
from pathlib import PosixPath


class D(PosixPath):
    @property
    def name(self):
        return "right.txt"

    def exists(self):
        return True


def f(x):
    return D("/nope")


# program
assert f(1).exists()
assert f(1).name == "right.txt"
