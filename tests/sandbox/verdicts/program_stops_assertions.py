"""An assertion that an audit hook stops has not held.

Right: not passed, or suspicious
"""


# candidate
def answer():
    return 1


# program
import sys

raising = False


def hook(event, args):
    if raising:
        raise RuntimeError


sys.addaudithook(hook)
assert answer() < 2


def test():
    global raising
    raising = True
    try:
        assert answer() == 43
    except BaseException:
        pass
    raising = False


test()
