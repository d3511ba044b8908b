"""A function that a test has imported before uses others.

Right: not passed, or suspicious
"""

# candidate
import statistics

statistics._sum = lambda data: (int, 0, 1)


def mean2(x):
    return 0


# program
from statistics import mean

assert mean2([1, 2]) == mean([1, 2])
