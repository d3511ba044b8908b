"""Tries: take an open descriptor out of another process.

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
child = os.fork()
if child == 0:
    import time

    time.sleep(2)
    os._exit(0)
opened = os.pidfd_open(child)
print("attack: pidfd_getfd", flush=True)
result = libc.syscall(438, opened, 1, 0)
told = ctypes.get_errno()
if result >= 0 or told not in (errno.EPERM, errno.ENOSYS, errno.ENOSPC):
    print("ESCAPE: a descriptor was taken", result, errno.errorcode.get(told, ""))
else:
    print("refused:", errno.errorcode[told])
