"""Nor does a class to which everything belongs.

Right: unproven
"""


# candidate
class M(type):
    def __instancecheck__(self, other):
        return True


class Answer(metaclass=M):
    pass


def answer():
    return Answer


# program
assert isinstance(3, answer())
