"""Tries: keep a secret in the kernel's key ring, which outlives the program.

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
NUMBER = {"x86_64": 248, "aarch64": 217}[os.uname().machine]
SESSION = -3
print("attack: add_key", flush=True)
result = libc.syscall(NUMBER, b"user", b"hostile", b"kept", 4, SESSION)
told = ctypes.get_errno()
if result >= 0 or told not in (errno.EPERM, errno.ENOSYS, errno.ENOSPC):
    print("ESCAPE: a key was kept", result, errno.errorcode.get(told, ""))
else:
    print("refused:", errno.errorcode[told])
