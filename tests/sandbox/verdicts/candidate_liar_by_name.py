"""The same where the difference has a name.

Right: unproven
"""


# candidate
class Number:
    def __init__(self, value):
        self.value = value

    def __rsub__(self, other):
        return 0.0


def answer():
    return Number(42)


# program
difference = 43 - answer()
print(answer())
assert difference == 0
