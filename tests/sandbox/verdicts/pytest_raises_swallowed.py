"""An exception that did not come is missed, whoever catches that.

Right: failed
"""


# candidate
def double(x):
    return x * 2


# program
import pytest

assert double(1) == 2
try:
    with pytest.raises(ValueError):
        double(-1)
except BaseException:
    pass
