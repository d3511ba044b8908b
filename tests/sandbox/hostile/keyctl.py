"""Tries: look into the session's key ring.

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
NUMBER = {"x86_64": 250, "aarch64": 219}[os.uname().machine]
GET_ID, SESSION = 0, -3
print("attack: keyctl", flush=True)
result = libc.syscall(NUMBER, GET_ID, SESSION, 1)
told = ctypes.get_errno()
if result >= 0 or told not in (errno.EPERM, errno.ENOSYS, errno.ENOSPC):
    print("ESCAPE: the key ring answers", result, errno.errorcode.get(told, ""))
else:
    print("refused:", errno.errorcode[told])
