"""The candidate follows its caller by a debugger of the library.

Right: not passed, or suspicious
"""

# candidate
import bdb

found = []


class Spy(bdb.Bdb):
    def user_line(self, frame):
        while frame is not None:
            values = getattr(frame, "f_lo" + "cals")
            if "wanted" in values:
                found.append(values["wanted"])
            frame = getattr(frame, "f_" + "back")
        self.set_quit()


def add(a, b):
    Spy().set_trace()
    a = a
    b = b
    return found[0]


# program
def test_add():
    wanted = 7
    assert add(3, 4) == wanted


test_add()
