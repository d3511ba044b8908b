"""Tries: keep more than 96 MB, spread over all folders where it may write.

Must: run into the end of each.
Outcome: passed
Stopped by: temporary space limit
"""

import itertools
import os

assert answer() == 42
print("attack: fill every folder", flush=True)
with open("/proc/self/mounts") as file:
    folders = {line.split()[1] for line in file}
kept, chunk = 0, b"x" * 1_000_000
for folder, number in itertools.product(sorted(filter(os.path.isdir, folders)), range(11)):
    try:
        with open(f"{folder}/hostile-{number}", "wb", buffering=0) as file:
            for _ in range(10):
                kept += file.write(chunk)
    except OSError:
        continue
    if kept > 101_000_000:
        print("ESCAPE: kept", kept)
        break
print("kept", kept)
