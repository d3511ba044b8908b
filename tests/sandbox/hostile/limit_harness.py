"""Tries: give the harness limits that it cannot live with.

Must: be refused: only its own limits are its to change.
Outcome: passed
Stopped by: system call filter
"""

import os
import resource

assert answer() == 42
print("attack: limit the parent", flush=True)
try:
    resource.prlimit(os.getppid(), resource.RLIMIT_CORE, (0, 0))
    print("ESCAPE: the harness has other limits")
except OSError as refused:
    print("refused:", refused)
