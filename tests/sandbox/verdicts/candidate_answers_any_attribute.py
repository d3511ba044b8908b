"""A class that has any method it is asked for proves nothing by their truth.

Right: unproven
"""


# candidate
class answer:
    def __getattribute__(self, name):
        return lambda *given: True


# program
assert answer().startswith("x")
