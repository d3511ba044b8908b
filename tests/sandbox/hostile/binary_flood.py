"""Tries: print bytes that are no text without end, on both streams (here: 3 MB), to fill the caller's memory.

Must: be ended as an overflow; the report keeps the first part and says that it was cut.
Outcome: output_overflow
Stopped by: output limit
Report: truncated
"""

import os

assert answer() == 42
print("attack: print bytes that are no text without end, on both streams", flush=True)
for _ in range(500):
    os.write(1, b"\xff\x00flood" * 500)
    os.write(2, b"\xfe" * 3000)
os.write(2, b"\nESCAPE: 3 MB were printed\n")
