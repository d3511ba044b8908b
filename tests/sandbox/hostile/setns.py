"""Tries: enter a namespace by its file.

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
opened = os.open("/proc/self/ns/uts", os.O_RDONLY)
print("attack: setns", flush=True)
result = libc.setns(opened, 0)
told = ctypes.get_errno()
if result >= 0 or told not in (errno.EPERM, errno.ENOSYS, errno.ENOSPC):
    print("ESCAPE: entered", result, errno.errorcode.get(told, ""))
else:
    print("refused:", errno.errorcode[told])
