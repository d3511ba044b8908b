"""A value whose truth is its own to say proves nothing.

Right: unproven
"""


# candidate
class Yes:
    def __bool__(self):
        return True

    def __gt__(self, other):
        return self


def answer():
    return Yes()


# program
assert answer() > 43
