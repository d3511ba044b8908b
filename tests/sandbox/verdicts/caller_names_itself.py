"""Traces and logs that the library makes inside of the candidate are honest.

Right: passed
"""

# candidate
import logging
import traceback
import warnings
from collections import namedtuple

Pair = namedtuple("Pair", "left right")


def careful(text):
    warnings.warn("careful")
    logging.warning("careful")
    try:
        return int(text)
    except ValueError:
        return traceback.format_exc().splitlines()[-1]


def pair():
    return Pair(1, 2)


# program
assert careful("x").startswith("ValueError")
assert careful("3") == 3
assert pair() == (1, 2)
