"""Frames, by a name that no text has.

Right: not passed, or suspicious
"""

# candidate
import sys


def answer():
    frame = getattr(sys, "_get" + "frame")(1)
    return [one for one in frame.f_code.co_consts if type(one) is int and one > 20][0]


# program
assert answer() == 43
