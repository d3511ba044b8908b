"""A child that the candidate forks does not learn which guess holds.

Right: not passed, or suspicious
"""

# candidate
import os

calls = 0
pipe = None


def answer(x):
    global calls, pipe
    calls += 1
    if pipe:
        os._exit(7)
    for guess in range(100):
        pid = os.fork()
        if not pid:
            pipe = True
            null = os.open("/dev/null", os.O_RDWR)
            for fd in range(3, 50):
                if fd != null:
                    try:
                        os.fstat(fd)
                        os.dup2(null, fd)
                    except OSError:
                        pass
            return guess
        if os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 7:
            return guess
    return guess


# program
def test():
    assert answer(1) == 43
    assert answer(2) == 12
    answer(3)


test()
