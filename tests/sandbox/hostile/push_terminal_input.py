"""Tries: push characters into a terminal as if its owner had typed them.

Must: be refused by name, before the kernel looks at it.
Outcome: errored
Stopped by: system call filter
Report: suspicious
"""

import ctypes
import errno
import os

assert answer() == 42
libc = ctypes.CDLL(None, use_errno=True)
PUSH = 0x5412
print("attack: ioctl", flush=True)
result = libc.ioctl(0, PUSH, b"x")
told = ctypes.get_errno()
if result >= 0 or told not in (errno.EPERM, errno.ENOSYS, errno.ENOSPC):
    print("ESCAPE: the kernel considered it", result, errno.errorcode.get(told, ""))
else:
    print("refused:", errno.errorcode[told])
