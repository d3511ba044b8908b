"""A signal that interrupts an assertion interrupts the verdict.

Right: not passed, or suspicious
"""


# candidate
def answer():
    return 42


# program
import signal
import time


class Late(BaseException):
    pass


def late(*given):
    raise Late


signal.signal(signal.SIGALRM, late)


class Slow:
    def __eq__(self, other):
        return False

    def __repr__(self):
        signal.setitimer(signal.ITIMER_REAL, 0.01)
        time.sleep(1)
        return "slow"


assert answer() == 42
try:
    assert Slow() == answer()
except BaseException:
    pass
