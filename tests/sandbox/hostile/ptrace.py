"""Tries: trace another process of its own, to write its registers and memory.

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
ATTACH = 16
child = os.fork()
if child == 0:
    import time

    time.sleep(2)
    os._exit(0)
print("attack: ptrace", flush=True)
result = libc.ptrace(ATTACH, child, None, None)
told = ctypes.get_errno()
if result >= 0 or told not in (errno.EPERM, errno.ENOSYS, errno.ENOSPC):
    print("ESCAPE: attached", result, errno.errorcode.get(told, ""))
else:
    print("refused:", errno.errorcode[told])
