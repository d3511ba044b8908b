"""Tries: lock memory, so that the machine can never put it away.

Must: be refused more than a little.
Outcome: errored
Stopped by: fixed
Report: suspicious
"""

import ctypes
import os

assert answer() == 42
libc = ctypes.CDLL(None, use_errno=True)
held = ctypes.create_string_buffer(100 << 20)
print("attack: lock 100 MB", flush=True)
print("ESCAPE: locked" if libc.mlock(held, 100 << 20) == 0 else f"refused: {os.strerror(ctypes.get_errno())}")
