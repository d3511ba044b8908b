"""Tries: take the harness's own descriptors by their links.

Must: be refused.
Outcome: passed
Stopped by: no rights
"""

import os

assert answer() == 42
print("attack: descriptors of process 1", flush=True)
try:
    print("ESCAPE:", os.listdir(f"/proc/{os.getppid()}/fd"))
except OSError as refused:
    print("refused:", refused)
