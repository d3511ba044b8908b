"""A child may call what asserts.

Right: passed
"""

# candidate
import os


def in_child(function):
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(read)
        os.write(write, repr(function()).encode())
        os._exit(0)
    os.close(write)
    with os.fdopen(read) as f:
        text = f.read()
    os.waitpid(pid, 0)
    return text


# program
def work():
    assert 1 + 1 == 2
    return 3


assert in_child(work) == "3"
