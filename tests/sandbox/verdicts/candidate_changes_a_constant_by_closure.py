"""Nor by the namespace that its own function has, kept in a closure.

Right: not passed, or suspicious
"""

# candidate
import operator


def make():
    def answers():
        operator.iadd(space["WANTED"], [3])
        return [1, 2, 3]

    space = answers.__globals__
    return answers


answers = make()


# program
WANTED = [1, 2]


def test_answers():
    assert answers() == WANTED


test_answers()
