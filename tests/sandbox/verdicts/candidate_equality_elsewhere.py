"""An equality from a file of its own is the candidate's, too.

Right: unproven
"""

# candidate
import sys

with open("/tmp/values.py", "w") as file:
    file.write("class Same:\n    def __eq__(self, other):\n        return True\n")
sys.path.insert(0, "/tmp")
import values


def answer():
    return values.Same()


# program
assert answer() == 43
