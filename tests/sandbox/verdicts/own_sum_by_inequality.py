"""So is one that is compared by its size.

Right: passed
"""


# candidate
class T:
    def __init__(self, c):
        self.c = c

    def __add__(self, d):
        return T(self.c + d)


# program
assert (T(20) + 5).c > 24
