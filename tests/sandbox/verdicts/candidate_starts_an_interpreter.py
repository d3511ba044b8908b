"""The candidate looks at frames out of another interpreter.

Right: not passed, or suspicious
"""

# candidate
import _xxsubinterpreters as interpreters, os

CODE = """
import sys
for frame in sys._current_frames().values():
    while frame:
        if "wanted" in frame.f_locals:
            open("/tmp/found", "w").write(str(frame.f_locals["wanted"]))
        frame = frame.f_back
"""


def add(a, b):
    i = interpreters.create()
    interpreters.run_string(i, CODE)
    return int(open("/tmp/found").read())


# program
def test_add():
    wanted = 7
    assert add(3, 4) == wanted


test_add()
