"""An equality of its own is none because its result is `True` itself.

Right: unproven
"""


# candidate
class answer:
    __eq__ = lambda self, other: True


# program
assert (answer() == 43) is True
