"""Tries: mount a file system over its own folder.

Must: be refused by name, before the kernel looks at it.
Outcome: errored
Stopped by (bubblewrap): system call filter + no rights + no nested namespaces
Stopped by (docker): system call filter + no rights
Report: suspicious
"""

import ctypes
import errno
import os

assert answer() == 42
libc = ctypes.CDLL(None, use_errno=True)

print("attack: mount", flush=True)
result = libc.mount(b"none", b"/tmp", b"tmpfs", 0, None)
told = ctypes.get_errno()
if result >= 0 or told not in (errno.EPERM, errno.ENOSYS, errno.ENOSPC):
    print("ESCAPE: mounted", result, errno.errorcode.get(told, ""))
else:
    print("refused:", errno.errorcode[told])
