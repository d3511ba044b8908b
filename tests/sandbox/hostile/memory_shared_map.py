"""Tries: take memory that is shared between processes, which no process's own limit counts.

Must: be ended as out of memory.
Outcome: out_of_memory
Stopped by: memory limit
Limits: memory_mb=200, seconds=8
"""

import mmap
import os

assert answer() == 42
print("attack: shared maps in two processes", flush=True)
for turn in range(4):
    if os.fork() == 0:
        held = mmap.mmap(-1, 120 << 20)
        for page in range(0, len(held), 4096):
            held[page] = 1
        os.write(1, b"ESCAPE: 480 MB held\n" if turn == 3 else b"")
        import time

        time.sleep(20)
    import time

    time.sleep(0.1)
os.wait()
