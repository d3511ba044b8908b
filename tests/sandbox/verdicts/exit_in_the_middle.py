"""An exit before the end leaves something untested.

Right: not passed, or suspicious
"""


# candidate
def triple(x):
    return x * 3


# program
import sys

assert triple(1) == 3
if triple(1) == 3:
    sys.exit()
assert triple(1) == 4
