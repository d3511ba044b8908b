"""Tries: open a file by its number instead of its path, past every mount.

Must: be refused by name, before the kernel looks at it.
Outcome: errored
Stopped by (docker): system call filter + no rights
Stopped by (bubblewrap): fixed + system call filter
Report: suspicious
"""

import ctypes
import errno
import os

assert answer() == 42
libc = ctypes.CDLL(None, use_errno=True)
NAME, OPEN = {"x86_64": (303, 304), "aarch64": (264, 265)}[os.uname().machine]
handle, mount = (ctypes.c_uint32 * 40)(128), ctypes.c_int()
libc.syscall(NAME, -100, b"/tmp", handle, ctypes.byref(mount), 0)
handle[0] = min(handle[0], 128)
folder = os.open("/tmp", os.O_RDONLY)
print("attack: open_by_handle", flush=True)
result = libc.syscall(OPEN, folder, handle, os.O_RDONLY)
told = ctypes.get_errno()
if result >= 0 or told not in (errno.EPERM, errno.ENOSYS, errno.ENOSPC):
    print("ESCAPE: opened, or looked for", result, errno.errorcode.get(told, ""))
else:
    print("refused:", errno.errorcode[told])
