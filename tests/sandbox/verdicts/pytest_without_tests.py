"""pytest has found nothing to run.

Right: untested
"""


# candidate
def double(x):
    return x * 2


# program
import sys

import pytest


def check_double():
    assert double(1) == 3


sys.exit(pytest.main([__file__]))
