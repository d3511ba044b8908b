"""So is a large array.

Right: not passed, or suspicious
"""

# candidate
import numpy as np


def answers():
    globals()["WANTED"][0] = 9
    return 9.0


# program
import numpy as np

WANTED = np.zeros(400_000)
assert answers() == WANTED[0]
