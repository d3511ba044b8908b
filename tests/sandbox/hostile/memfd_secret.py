"""Tries: take memory that the kernel itself cannot see.

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

print("attack: memfd_secret", flush=True)
result = libc.syscall(447, 0)
told = ctypes.get_errno()
if result >= 0 or told not in (errno.EPERM, errno.ENOSYS, errno.ENOSPC):
    print("ESCAPE: secret memory", result, errno.errorcode.get(told, ""))
else:
    print("refused:", errno.errorcode[told])
