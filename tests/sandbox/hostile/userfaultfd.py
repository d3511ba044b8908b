"""Tries: handle page faults itself, which holds the kernel still in the middle of a copy.

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
NUMBER = {"x86_64": 323, "aarch64": 282}[os.uname().machine]
print("attack: userfaultfd", flush=True)
result = libc.syscall(NUMBER, 1)
told = ctypes.get_errno()
if result >= 0 or told not in (errno.EPERM, errno.ENOSYS, errno.ENOSPC):
    print("ESCAPE: page faults are ours", result, errno.errorcode.get(told, ""))
else:
    print("refused:", errno.errorcode[told])
