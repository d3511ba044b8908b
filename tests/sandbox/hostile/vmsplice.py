"""Tries: give its own pages to a pipe, where later writes still change them.

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


class Part(ctypes.Structure):
    _fields_ = [("base", ctypes.c_void_p), ("length", ctypes.c_size_t)]


page = ctypes.create_string_buffer(4096)
source, sink = os.pipe()
part = Part(ctypes.addressof(page), 4096)
print("attack: vmsplice", flush=True)
result = libc.vmsplice(sink, ctypes.byref(part), 1, 0)
told = ctypes.get_errno()
if result >= 0 or told not in (errno.EPERM, errno.ENOSYS, errno.ENOSPC):
    print("ESCAPE: pages were given away", result, errno.errorcode.get(told, ""))
else:
    print("refused:", errno.errorcode[told])
