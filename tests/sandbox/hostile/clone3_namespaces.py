"""Tries: make namespaces by clone3, whose flags lie in memory where no filter reads them.

Must: be told that there is no such call, so that the C library takes clone, which is looked at.
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
NEW_USER, CHILD_ENDED = 0x10000000, 17
arguments = (ctypes.c_uint64 * 11)(NEW_USER, 0, 0, 0, CHILD_ENDED)
print("attack: clone3_namespaces", flush=True)
result = libc.syscall(435, arguments, 88)
told = ctypes.get_errno()
if result >= 0 or told not in (errno.EPERM, errno.ENOSYS, errno.ENOSPC):
    print("ESCAPE: a process in a namespace", result, errno.errorcode.get(told, ""))
else:
    print("refused:", errno.errorcode[told])
