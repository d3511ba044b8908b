"""One of a date stands for a date.

Right: unproven
"""

# candidate
from datetime import datetime


class D(datetime):
    def strftime(self, s):
        return "2020"


def f(x):
    return D(2021, 1, 1)


# program
assert f(1).strftime("%Y") == "2020"
