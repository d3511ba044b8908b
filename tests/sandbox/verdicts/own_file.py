"""A program has a file name, as every program has.

Right: passed
"""

# candidate
import os


def folder():
    return os.path.dirname(__file__)


# program
assert folder() == "/tmp"
assert __file__.endswith(".py")
