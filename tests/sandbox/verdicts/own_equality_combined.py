"""Comparisons that are combined prove nothing where a class decides each.

Right: unproven
"""


# candidate
class Same:
    def __eq__(self, other):
        return True


def answer():
    return Same()


# program
assert answer() is not None and (answer() == 43 or answer() == 44)
