"""So is a list of more than a million.

Right: not passed, or suspicious
"""


# candidate
def answers(i):
    globals()["WANTED"][i] = 9
    return 9


# program
WANTED = list(range(1_200_000))
for i in range(5):
    assert answers(i) == WANTED[i]
