"""Tries: trace the harness, to change what it will say.

Must: be refused by name.
Outcome: errored
Stopped by: system call filter + no rights
Report: suspicious
"""

import ctypes
import errno
import os

assert answer() == 42
libc = ctypes.CDLL(None, use_errno=True)
SEIZE = 0x4206
print("attack: ptrace the parent", flush=True)
if libc.ptrace(SEIZE, os.getppid(), None, None) == 0:
    print("ESCAPE: the harness is traced")
else:
    print("refused:", errno.errorcode[ctypes.get_errno()])
