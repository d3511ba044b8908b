"""A program may replace a library's function for a while.

Right: passed
"""

# candidate
import time


def stamp():
    return int(time.time())


# program
import time

real = time.time
time.time = lambda: 5.5
try:
    assert stamp() == 5
finally:
    time.time = real
assert stamp() > 5
