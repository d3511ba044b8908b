"""Tries: watch every opening of files.

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
REPORT_FID = 0x200
print("attack: fanotify_init", flush=True)
result = libc.fanotify_init(REPORT_FID, os.O_RDONLY)
told = ctypes.get_errno()
if result >= 0 or told not in (errno.EPERM, errno.ENOSYS, errno.ENOSPC):
    print("ESCAPE: it watches", result, errno.errorcode.get(told, ""))
else:
    print("refused:", errno.errorcode[told])
