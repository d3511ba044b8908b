"""A candidate that sets a variable does not own the module os.

Right: passed
"""

# candidate
import os
import sys

os.environ["MODE"] = "test"
sys.mode = 1


def mode():
    return os.environ["MODE"]


# program
import os
import sys

assert mode() == "test"
