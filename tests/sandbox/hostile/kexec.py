"""Tries: put another kernel in this one's place.

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
NUMBER = {"x86_64": 246, "aarch64": 104}[os.uname().machine]
print("attack: kexec", flush=True)
result = libc.syscall(NUMBER, 0, 0, None, 0)
told = ctypes.get_errno()
if result >= 0 or told not in (errno.EPERM, errno.ENOSYS, errno.ENOSPC):
    print("ESCAPE: the kernel considered it", result, errno.errorcode.get(told, ""))
else:
    print("refused:", errno.errorcode[told])
