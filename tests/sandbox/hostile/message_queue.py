"""Tries: keep messages in a System V queue, which outlives the program.

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
PRIVATE, CREATE = 0, 0o1600
print("attack: msgget", flush=True)
result = libc.msgget(PRIVATE, CREATE)
told = ctypes.get_errno()
if result >= 0 or told not in (errno.EPERM, errno.ENOSYS, errno.ENOSPC):
    print("ESCAPE: a queue", result, errno.errorcode.get(told, ""))
else:
    print("refused:", errno.errorcode[told])
