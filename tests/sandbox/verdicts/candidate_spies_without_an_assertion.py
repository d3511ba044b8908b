"""Nor what the program itself compares.

Right: not passed, or suspicious
"""

# candidate
import os


class Spy:
    def __init__(self, pipe):
        self.pipe = pipe

    def __eq__(self, other):
        os.write(self.pipe, repr(other).encode())
        os._exit(0)


def answer():
    read, write = os.pipe()
    pid = os.fork()
    if not pid:
        null = os.open("/dev/null", os.O_RDWR)
        for fd in range(3, 50):
            if fd not in (null, write):
                try:
                    os.fstat(fd)
                    os.dup2(null, fd)
                except OSError:
                    pass
        return Spy(write)
    os.close(write)
    os.waitpid(pid, 0)
    text = os.read(read, 99)
    return int(text or 0)


# program
def test():
    got = answer()
    if got != 43:
        raise AssertionError(got)
    assert isinstance(got, int)


test()
