"""Tries: load a program into the kernel.

Must: be refused by name, before the kernel looks at it.
Outcome: errored
Stopped by (docker): system call filter + no rights
Stopped by (bubblewrap): system call filter + fixed
Report: suspicious
"""

import ctypes
import errno
import os

assert answer() == 42
libc = ctypes.CDLL(None, use_errno=True)
NUMBER = {"x86_64": 321, "aarch64": 280}[os.uname().machine]
attributes = (ctypes.c_uint32 * 32)(2, 4, 8, 1)
print("attack: bpf", flush=True)
result = libc.syscall(NUMBER, 0, attributes, 128)
told = ctypes.get_errno()
if result >= 0 or told not in (errno.EPERM, errno.ENOSYS, errno.ENOSPC):
    print("ESCAPE: a map was made", result, errno.errorcode.get(told, ""))
else:
    print("refused:", errno.errorcode[told])
