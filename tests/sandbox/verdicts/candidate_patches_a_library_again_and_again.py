"""A thread of the candidate's replaces a function, and puts it back.

Right: failed
"""

# candidate
import threading, math, time


def flip():
    real = math.isclose
    end = time.time() + 2
    while time.time() < end:
        math.isclose = lambda *a, **k: True
        math.isclose = real


threading.Thread(target=flip, daemon=True).start()


def half(x):
    return 0


# program
import math, time

tries = [math.isclose(half(3), 1.5) for _ in range(20000)]
assert any(tries)
