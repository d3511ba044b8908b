"""What is behind a proxy calls itself equal to anything.

Right: unproven
"""

# candidate
import weakref


class Liar:
    def __eq__(self, other):
        return True


one = Liar()


def double(x):
    return weakref.proxy(one)


# program
assert double(2) == 4
