"""Tries: count events of the processor, a way to watch others.

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
NUMBER = {"x86_64": 298, "aarch64": 241}[os.uname().machine]
attributes = (ctypes.c_uint64 * 16)(1 | 128 << 32, 0, 0, 0, 0, 0x60)
print("attack: perf_event_open", flush=True)
result = libc.syscall(NUMBER, attributes, 0, -1, -1, 0)
told = ctypes.get_errno()
if result >= 0 or told not in (errno.EPERM, errno.ENOSYS, errno.ENOSPC):
    print("ESCAPE: a counter runs", result, errno.errorcode.get(told, ""))
else:
    print("refused:", errno.errorcode[told])
