"""Tries: fork without end (here: 300 times), to take the machine's process table.

Must: be refused new processes at the limit, and leave none behind.
Outcome: errored
Stopped by: process limit
Limits: memory_mb=1024
"""

import os
import signal

assert answer() == 42
print("attack: fork", flush=True)
for born in range(300):
    if os.fork() == 0:
        signal.pause()
print("ESCAPE: 300 processes")
