"""Tries: take memory as a file without a name, beyond every sized folder.

Must: be refused such a file.
Outcome: errored
Stopped by: system call filter
"""

import os

assert answer() == 42
print("attack: memfd", flush=True)
opened = os.memfd_create("hostile")
print("ESCAPE: a file without a name")
