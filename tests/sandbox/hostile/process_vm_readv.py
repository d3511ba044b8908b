"""Tries: read another process's memory in one call.

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


there, here = ctypes.create_string_buffer(b"secret"), ctypes.create_string_buffer(7)
child = os.fork()
if child == 0:
    import time

    time.sleep(2)
    os._exit(0)
local = Part(ctypes.addressof(here), 7)
remote = Part(ctypes.addressof(there), 7)
print("attack: process_vm_readv", flush=True)
result = libc.process_vm_readv(child, ctypes.byref(local), 1, ctypes.byref(remote), 1, 0)
told = ctypes.get_errno()
if result >= 0 or told not in (errno.EPERM, errno.ENOSYS, errno.ENOSPC):
    print("ESCAPE: read", result, errno.errorcode.get(told, ""))
else:
    print("refused:", errno.errorcode[told])
