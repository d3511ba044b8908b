"""Tries: take all memory in children that each stay below a limit of their own.

Must: be ended as out of memory: the limit is on the sum.
Outcome: out_of_memory
Stopped by: memory limit
Limits: memory_mb=200
"""

import os
import time

assert answer() == 42
print("attack: 8 children of 60 MB", flush=True)
told, tell = os.pipe()
for _ in range(8):
    if os.fork() == 0:
        held = bytearray(b"x") * 60_000_000
        os.write(tell, b"x")
        time.sleep(20)
for _ in range(8):
    os.read(told, 1)
print("ESCAPE: 480 MB held")
