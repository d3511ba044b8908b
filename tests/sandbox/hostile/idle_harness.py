"""Tries: have the harness wait behind every other process, so that the deadline comes late.

Must: be refused: only its own place in the queue is its to change.
Outcome: errored
Stopped by: system call filter
Report: suspicious
"""

import ctypes
import errno
import os

assert answer() == 42
libc = ctypes.CDLL(None, use_errno=True)
IDLE = 5
parameters = ctypes.c_int(0)
harness = os.getppid()
print("attack: sched_setscheduler", flush=True)
result = libc.sched_setscheduler(harness, IDLE, ctypes.byref(parameters))
told = ctypes.get_errno()
if result >= 0 or told not in (errno.EPERM, errno.ENOSYS, errno.ENOSPC):
    print("ESCAPE: the harness waits", result, errno.errorcode.get(told, ""))
else:
    print("refused:", errno.errorcode[told])
