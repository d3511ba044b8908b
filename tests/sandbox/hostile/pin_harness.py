"""Tries: keep the harness to one processor, where the program's own threads leave it no time.

Must: be refused: only its own processors are its to choose.
Outcome: passed
Stopped by: system call filter
"""

import os

assert answer() == 42
print("attack: pin the parent", flush=True)
try:
    os.sched_setaffinity(os.getppid(), {min(os.sched_getaffinity(0))})
    print("ESCAPE: the harness is pinned")
except OSError as refused:
    print("refused:", refused)
