"""A text whose methods say what they like proves nothing.

Right: unproven
"""


# candidate
class S(str):
    def startswith(self, *a):
        return True


def answer():
    return S("x")


# program
assert answer().startswith("hello")
