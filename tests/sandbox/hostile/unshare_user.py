"""Tries: become root in a user namespace of its own.

Must: be refused by name, before the kernel looks at it.
Outcome: errored
Stopped by (docker): system call filter
Stopped by (bubblewrap): system call filter + no nested namespaces
Report: suspicious
"""

import ctypes
import errno
import os

assert answer() == 42
libc = ctypes.CDLL(None, use_errno=True)
NEW_USER = 0x10000000
print("attack: unshare", flush=True)
result = libc.unshare(NEW_USER)
told = ctypes.get_errno()
if result >= 0 or told not in (errno.EPERM, errno.ENOSYS, errno.ENOSPC):
    print("ESCAPE: a user namespace", result, errno.errorcode.get(told, ""))
else:
    print("refused:", errno.errorcode[told])
