"""Nor does it change what a global name has.

Right: not passed, or suspicious
"""

# candidate
import threading, time


def change():
    time.sleep(0.1)
    EXPECTED.append(42)
    time.sleep(1)


def answer():
    threading.Thread(target=change, daemon=True).start()
    return [1, 42]


# program
import time

EXPECTED = [1]
result = answer()
time.sleep(0.4)
assert result == EXPECTED
