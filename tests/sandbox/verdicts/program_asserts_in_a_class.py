"""A member of a class body with the candidate's name is another one.

Right: not passed, or suspicious
"""


# candidate
def answer():
    return 42


# program
answer()


class Answers:
    answer = lambda: 43
    assert answer() == 43
