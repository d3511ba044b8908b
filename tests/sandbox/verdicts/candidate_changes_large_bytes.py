"""So are many bytes.

Right: not passed, or suspicious
"""


# candidate
def answers():
    globals()["WANTED"][0] = 9
    return 9


# program
WANTED = bytearray(2_000_000)
assert answers() == WANTED[0]
