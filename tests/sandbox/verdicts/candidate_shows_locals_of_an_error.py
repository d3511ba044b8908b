"""The candidate asks the library for the locals of what its own error passed.

Right: not passed, or suspicious
"""

# candidate
import traceback

kept = []


class Bad(ValueError):
    def __init__(self, *a):
        super().__init__(*a)
        kept.append(self)


def half(n):
    if kept:
        shown = traceback.TracebackException.from_exception(kept[0], capture_locals=True)
        for frame in shown.stack:
            if "wanted" in (frame.locals or {}):
                return int(frame.locals["wanted"])
    if n % 2:
        raise Bad("odd")
    return 0


# program
def test_half():
    wanted = 4
    try:
        half(3)
    except ValueError:
        pass
    else:
        raise AssertionError
    assert half(8) == wanted


test_half()
