"""An assertion in another namespace is about something else.

Right: not passed, or suspicious
"""


# candidate
def answer():
    return 42


# program
import types


def check():
    assert answer() == 43


assert answer() == 42
types.FunctionType(getattr(check, "__co" + "de__"), {"answer": lambda: 43})()
