"""Tries: take the machine's swap space away.

Must: be refused by name, before the kernel looks at it.
Outcome: errored
Stopped by: system call filter + fixed
Report: suspicious
"""

import ctypes
import errno
import os

assert answer() == 42
libc = ctypes.CDLL(None, use_errno=True)

print("attack: swapoff", flush=True)
result = libc.swapoff(b"/tmp/none")
told = ctypes.get_errno()
if result >= 0 or told not in (errno.EPERM, errno.ENOSYS, errno.ENOSPC):
    print("ESCAPE: the kernel considered it", result, errno.errorcode.get(told, ""))
else:
    print("refused:", errno.errorcode[told])
