"""What each thread takes over as its profiler is heard of.

Right: not passed, or suspicious
"""

# candidate
import threading


def pr(fr, ev, arg):
    globals()["EXPECTED"] = 1


threading.setprofile(pr)


def f(x):
    return 1


# program
import threading

EXPECTED = 2
t = threading.Thread(target=lambda: None)
t.start()
t.join()
assert f(1) == EXPECTED
