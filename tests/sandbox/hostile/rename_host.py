"""Tries: give the machine another name.

Must: be refused by name, before the kernel looks at it.
Outcome: errored
Stopped by (bubblewrap): system call filter + no rights + no nested namespaces
Stopped by (docker): system call filter + no rights
Report: suspicious
"""

import ctypes
import errno
import os

assert answer() == 42
libc = ctypes.CDLL(None, use_errno=True)

print("attack: sethostname", flush=True)
result = libc.sethostname(b"hostile", 7)
told = ctypes.get_errno()
if result >= 0 or told not in (errno.EPERM, errno.ENOSYS, errno.ENOSPC):
    print("ESCAPE: renamed", result, errno.errorcode.get(told, ""))
else:
    print("refused:", errno.errorcode[told])
