"""Values of libraries are compared by these.

Right: passed
"""

# candidate
import datetime
import decimal
import pathlib

import numpy


def made():
    return [
        datetime.date(2020, 1, 2),
        decimal.Decimal("1.5"),
        pathlib.PurePosixPath("a/b"),
        numpy.arange(3).sum(),
    ]


# program
from datetime import date
from decimal import Decimal
from pathlib import PurePosixPath

assert made() == [date(2020, 1, 2), Decimal("1.5"), PurePosixPath("a/b"), 3]
