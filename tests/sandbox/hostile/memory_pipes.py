"""Tries: fill the kernel's own memory: pipes that are made large and never read.

Must: be bounded: by descriptors, by what one user's pipes may hold, by the memory limit.
Outcome: passed | out_of_memory
Stopped by: fixed
"""

import fcntl
import os

assert answer() == 42
print("attack: large pipes", flush=True)
SET_SIZE, held, kept = 1031, 0, []
try:
    while held < 400 << 20:
        source, sink = os.pipe()
        kept.append((source, sink))
        os.set_blocking(sink, False)
        size = fcntl.fcntl(sink, SET_SIZE, 1 << 20)
        held += os.write(sink, b"x" * size)
    print("ESCAPE: 400 MB in pipes")
except OSError as refused:
    print("refused:", refused, "after", held >> 20, "MB")
