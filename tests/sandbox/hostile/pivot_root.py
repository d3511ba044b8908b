"""Tries: put another root under everything.

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
NUMBER = {"x86_64": 155, "aarch64": 41}[os.uname().machine]
print("attack: pivot_root", flush=True)
result = libc.syscall(NUMBER, b"/tmp", b"/tmp")
told = ctypes.get_errno()
if result >= 0 or told not in (errno.EPERM, errno.ENOSYS, errno.ENOSPC):
    print("ESCAPE: the kernel considered it", result, errno.errorcode.get(told, ""))
else:
    print("refused:", errno.errorcode[told])
