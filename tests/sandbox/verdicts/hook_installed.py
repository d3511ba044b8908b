"""A function may set what belongs to the interpreter.

Right: passed
"""

# candidate
import sys


def install(hook):
    sys.excepthook = hook


# program
import sys


def hook(*given):
    return None


install(hook)
assert sys.excepthook is hook
