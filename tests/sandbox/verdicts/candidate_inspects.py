"""Frames, by way of the library.

Right: not passed, or suspicious
"""

# candidate
import inspect


def answer():
    frame = getattr(inspect.currentframe(), "f_" + "back")
    getattr(frame, "f_glo" + "bals")["check"] = lambda value: None
    return 42


# program
def check(value):
    assert value == 43


result = answer()
check(result)
assert result
