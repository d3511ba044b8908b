"""The candidate replaces what looks up the environment.

Right: not passed, or suspicious
"""

# candidate
import os

os._Environ.__getitem__ = lambda self, k: "x"


def put(k, v):
    pass


# program
import os

put("MODE", "x")
assert os.environ["MODE"] == "x"
