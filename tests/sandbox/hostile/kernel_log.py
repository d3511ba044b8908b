"""Tries: read the kernel's messages, which hold addresses and names of devices.

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
READ_ALL = 3
buffer = ctypes.create_string_buffer(4096)
print("attack: klogctl", flush=True)
result = libc.klogctl(READ_ALL, buffer, 4096)
told = ctypes.get_errno()
if result >= 0 or told not in (errno.EPERM, errno.ENOSYS, errno.ENOSPC):
    print("ESCAPE: the log was read", result, errno.errorcode.get(told, ""))
else:
    print("refused:", errno.errorcode[told])
