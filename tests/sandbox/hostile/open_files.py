"""Tries: open files until the machine's table is full.

Must: be refused at its own limit.
Outcome: errored
Stopped by: fixed
"""

import os

assert answer() == 42
print("attack: open files", flush=True)
kept = [os.open("/dev/null", os.O_RDONLY) for _ in range(2000)]
print("ESCAPE: 2,000 open files")
