"""Nor from a thread that waits for it since the import.

Right: not passed, or suspicious
"""

# candidate
import threading
import time


def change():
    while "WANTED" not in globals():
        time.sleep(0.001)
    globals()["WANTED"][:] = [1]


def answers():
    time.sleep(0.3)
    return [1]


threading.Thread(target=change, daemon=True).start()


# program
WANTED = [1, 2]

assert answers() == WANTED
