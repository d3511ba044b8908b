"""Tries: make system calls as a 32-bit program would, whose numbers mean something else.

Must: be killed at once, wherever the processor knows such calls.
Outcome: errored
Stopped by: system call filter
Report: suspicious
"""

import ctypes
import mmap
import os

assert answer() == 42
# mov eax, 20 (getpid); int 0x80; ret
CODE = b"\xb8\x14\x00\x00\x00\xcd\x80\xc3"
page = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
page.write(CODE)
function = ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(page)))
print("attack: int 0x80", flush=True)
child = os.fork()
if child == 0:
    known = os.uname().machine == "x86_64" and function() == os.getpid()
    os._exit(7 if known else 0)
status = os.waitpid(child, 0)[1]
print("ESCAPE: the other table answers" if os.waitstatus_to_exitcode(status) == 7 else f"status {status}")
