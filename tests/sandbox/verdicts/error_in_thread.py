"""The same in a thread.

Right: not passed, or suspicious
"""


# candidate
def half(x):
    return x / 2


# program
import threading


def check(value, wanted):
    assert half(value) == wanted


threads = [threading.Thread(target=check, args=one) for one in ((8, 4), ("8", 4))]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
