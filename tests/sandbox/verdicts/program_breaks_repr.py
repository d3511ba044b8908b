"""An assertion is recorded though its values can't be shown.

Right: not passed, or suspicious
"""


# candidate
def answer():
    return 42


# program
class Odd:
    def __init__(self, value):
        self.value = value

    def __eq__(self, other):
        return self.value == other

    def __repr__(self):
        raise SystemExit


assert answer() == 42
try:
    assert Odd(answer()) == 43
except BaseException:
    pass
