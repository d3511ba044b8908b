"""Tries: print errors without end (here: 3 MB), to fill the caller's memory.

Must: be ended as an overflow; the report keeps the first part and says that it was cut.
Outcome: output_overflow
Stopped by: output limit
Report: truncated
"""

import os

assert answer() == 42
print("attack: print errors without end", flush=True)
for _ in range(500):
    os.write(2, b"flood " * 1000)
os.write(2, b"\nESCAPE: 3 MB were printed\n")
