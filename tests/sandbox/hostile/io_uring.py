"""Tries: set up an io_uring, past whose queue no filter sees what is asked of the kernel.

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
parameters = ctypes.create_string_buffer(120)
print("attack: io_uring", flush=True)
result = libc.syscall(425, 4, parameters)
told = ctypes.get_errno()
if result >= 0 or told not in (errno.EPERM, errno.ENOSYS, errno.ENOSPC):
    print("ESCAPE: an io_uring is open", result, errno.errorcode.get(told, ""))
else:
    print("refused:", errno.errorcode[told])
