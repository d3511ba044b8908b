"""Tries: make a network namespace, where it would be its own administrator.

Must: be refused by name, before the kernel looks at it.
Outcome: errored
Stopped by: system call filter + no rights
Report: suspicious
"""

import ctypes
import errno
import os

assert answer() == 42
libc = ctypes.CDLL(None, use_errno=True)
NEW_NET = 0x40000000
print("attack: unshare", flush=True)
result = libc.unshare(NEW_NET)
told = ctypes.get_errno()
if result >= 0 or told not in (errno.EPERM, errno.ENOSYS, errno.ENOSPC):
    print("ESCAPE: a network namespace", result, errno.errorcode.get(told, ""))
else:
    print("refused:", errno.errorcode[told])
