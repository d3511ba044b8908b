"""Tries: see and signal the processes of others, the caller's among them.

Must: see nothing but itself and the harness.
Outcome: passed
Stopped by: own processes
Limits: memory_mb=65536
"""

import glob
import os

assert answer() == 42
print("attack: list processes", flush=True)
found = glob.glob("/proc/[0-9]*")
print("ESCAPE:" if len(found) > 4 else "alone:", len(found), "processes")
