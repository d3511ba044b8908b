"""A record that went elsewhere is missed.

Right: not passed, or suspicious
"""


# candidate
def answer():
    return 42


# program
import fcntl
import os

assert answer() == 42
open_ones = [int(name) for name in os.listdir("/proc/self/fd") if int(name) > 2]
copies = {}
for number in open_ones:
    try:
        copies[number] = fcntl.fcntl(number, fcntl.F_DUPFD, 150)
    except OSError:
        pass
for number in copies:
    os.close(number)
    os.open("/dev/null", os.O_WRONLY)
try:
    assert answer() == 43
except AssertionError:
    pass
for number, copy in copies.items():
    os.dup2(copy, number)
