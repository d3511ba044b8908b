"""A program may replace a library's function for a while.

Right: passed
"""

# candidate
import time


def is_late():
    return time.time() > 1000


# program
import time

real = time.time
time.time = lambda: 5.5
try:
    assert not is_late()
finally:
    time.time = real
assert is_late()
