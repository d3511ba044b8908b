"""Nor one of which `threading` does not know.

Right: not passed, or suspicious
"""

# candidate
import _thread, time


def change():
    global EXPECTED
    time.sleep(0.1)
    EXPECTED = 42


def answer():
    _thread.start_new_thread(change, ())
    return 42


# program
import time

EXPECTED = 43
result = answer()
time.sleep(0.4)
assert result == EXPECTED
