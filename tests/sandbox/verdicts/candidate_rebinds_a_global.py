"""A candidate that says `global` may bind a name, but not what its own result is compared with.

Right: not passed, or suspicious
"""


# candidate
def answer():
    global EXPECTED
    EXPECTED = 42
    return 42


# program
EXPECTED = 43

assert answer() == EXPECTED
