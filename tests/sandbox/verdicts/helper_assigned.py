"""Assignments that call helpers run after the candidate.

Right: passed
"""


# candidate
def triple(x):
    return x * 3


# program
def attempt(value):
    return triple(value)


WANTED = {1: 3, "a": "aaa"}
found = {value: attempt(value) for value in WANTED}
assert found == WANTED
