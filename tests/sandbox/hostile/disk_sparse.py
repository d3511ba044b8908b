"""Tries: make a file that claims a terabyte and takes nothing, for whoever copies it.

Must: be stopped at the limit of a file.
Outcome: errored
Stopped by: file size limit
"""

import os

assert answer() == 42
print("attack: a sparse file", flush=True)
opened = os.open("/tmp/hostile", os.O_CREAT | os.O_WRONLY)
os.ftruncate(opened, 1 << 33)
print("ESCAPE: 8 GB claimed")
