"""Tries: take capabilities by capset.

Must: be refused.
Outcome: errored
Stopped by: no rights
Report: suspicious
"""

import ctypes
import errno

assert answer() == 42
libc = ctypes.CDLL(None, use_errno=True)
VERSION, ADMIN = 0x20080522, 1 << 21
header = (ctypes.c_uint32 * 2)(VERSION, 0)
data = (ctypes.c_uint32 * 6)(ADMIN, ADMIN, 0, 0, 0, 0)
print("attack: capset", flush=True)
if libc.capset(header, data) == 0:
    print("ESCAPE: taken")
else:
    print("refused:", errno.errorcode[ctypes.get_errno()])
