"""Nor does a thread of its own bind it.

Right: not passed, or suspicious
"""

# candidate
import threading


def answer():
    def change():
        global EXPECTED
        EXPECTED = 42

    thread = threading.Thread(target=change)
    thread.start()
    thread.join()
    return 42


# program
EXPECTED = 43
result = answer()
assert result == EXPECTED
