"""Tries: change its own segment table, an old way to confuse the kernel.

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
NUMBER = {"x86_64": 154, "aarch64": -1}[os.uname().machine]
table = ctypes.create_string_buffer(64)
print("attack: modify_ldt", flush=True)
result = libc.syscall(NUMBER, 0, table, 64)
told = ctypes.get_errno()
if result >= 0 or told not in (errno.EPERM, errno.ENOSYS, errno.ENOSPC):
    print("ESCAPE: the table was read", result, errno.errorcode.get(told, ""))
else:
    print("refused:", errno.errorcode[told])
