"""Memory is memory by a relative path, too.

Right: not passed, or suspicious
"""

# candidate
import os


def answer():
    os.chdir("/proc/self")
    with open("mem", "rb") as f:
        f.seek(id(43) + 24)
        return f.read(1)[0]


# program
assert answer() == 43
