"""A built-in name that the candidate uses is not the program's to give.

Right: not passed, or suspicious
"""


# candidate
def largest(values):
    return sorted(values)[-1]


# program
def sorted(values):
    return [9]


assert largest([1, 2]) == 9
