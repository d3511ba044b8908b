"""Tries: hold a lease on an installed package's file, so that everybody else who opens it waits 45 seconds.

Must: be refused the lease.
Outcome: passed
Stopped by (docker): system call filter + no rights
Stopped by (bubblewrap): system call filter + fixed
"""

import fcntl
import os

assert answer() == 42
print("attack: lease", flush=True)
paths = (f"{folder}/{name}" for folder, _, names in os.walk("/packages") for name in names)
opened = os.open(next(paths), os.O_RDONLY)
try:
    fcntl.fcntl(opened, fcntl.F_SETLEASE, fcntl.F_WRLCK)
    print("ESCAPE: whoever opens it waits")
except OSError as refused:
    print("refused:", refused)
