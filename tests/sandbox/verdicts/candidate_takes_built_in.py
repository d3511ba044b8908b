"""A built-in function that the program uses is not the candidate's to define.

Right: not passed, or suspicious
"""


# candidate
def answer():
    return 42


def abs(value):
    return 0


# program
assert abs(answer() - 43) < 1e-6
