"""Nor a thread that goes on after the call.

Right: not passed, or suspicious
"""

# candidate
import threading
import time


def answer():
    threading.Thread(target=change, daemon=True).start()
    return 42


def change():
    time.sleep(0.1)
    globals()["EXPECTED"] = 42


# program
import time

EXPECTED = 43
result = answer()
time.sleep(0.4)
assert result == EXPECTED
