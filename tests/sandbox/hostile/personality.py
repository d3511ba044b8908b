"""Tries: switch off the randomness of its addresses, which makes other attacks simpler.

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
NO_RANDOMIZE = 0x0040000
print("attack: personality", flush=True)
result = libc.personality(NO_RANDOMIZE)
told = ctypes.get_errno()
if result >= 0 or told not in (errno.EPERM, errno.ENOSYS, errno.ENOSPC):
    print("ESCAPE: addresses are fixed", result, errno.errorcode.get(told, ""))
else:
    print("refused:", errno.errorcode[told])
