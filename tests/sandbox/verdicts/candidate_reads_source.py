"""Nor is the program's text.

Right: not passed, or suspicious
"""

# candidate
import inspect
import __main__


def answer():
    text = inspect.getsource(__main__.test_answer)
    return int(text.split("==")[1].split()[0])


# program
def test_answer():
    assert answer() == 43


test_answer()
