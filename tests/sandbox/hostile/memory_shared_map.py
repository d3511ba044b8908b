"""Tries: take memory that is shared between processes, which no process's own limit counts.

Must: be ended as out of memory.
Outcome: out_of_memory
Stopped by: memory limit
Limits: memory_mb=200, seconds=8
"""

import mmap
import os
import time

assert answer() == 42
print("attack: shared maps in two processes", flush=True)
source, sink = os.pipe()
for _ in range(4):
    if os.fork() == 0:
        held = mmap.mmap(-1, 120 << 20)
        for page in range(0, len(held), 4096):
            held[page] = 1
        os.write(sink, b"x")
        time.sleep(20)
    time.sleep(0.1)
holding = b""
while len(holding) < 4:
    holding += os.read(source, 4)
if os.waitpid(-1, os.WNOHANG) == (0, 0):
    print("ESCAPE: 480 MB held", flush=True)
os.wait()
