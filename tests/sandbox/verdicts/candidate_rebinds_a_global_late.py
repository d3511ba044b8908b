"""Nor does a thread bind a global name that is still at work.

Right: not passed, or suspicious
"""

# candidate
import threading, time


def answer():
    def change():
        global EXPECTED
        time.sleep(0.1)
        EXPECTED = 42
        time.sleep(1)

    threading.Thread(target=change, daemon=True).start()
    return 42


# program
import time

EXPECTED = 43
result = answer()
time.sleep(0.4)
assert result == EXPECTED
