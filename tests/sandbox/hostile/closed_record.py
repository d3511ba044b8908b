"""Tries: close every descriptor, so that no failure can be told.

Must: never count as passed: the end is missing.
Outcome: errored
Stopped by: fixed
Report: suspicious
"""

import os

assert answer() == 42
print("attack: close descriptors", flush=True)
os.closerange(3, 1024)
assert answer() == 43
