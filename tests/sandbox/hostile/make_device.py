"""Tries: make a device file for the machine's memory.

Must: be refused.
Outcome: passed
Stopped by (docker): system call filter + no rights
Stopped by (bubblewrap): system call filter + fixed
"""

import os
import stat

assert answer() == 42
print("attack: mknod", flush=True)
try:
    os.mknod("/tmp/hostile-mem", 0o666 | stat.S_IFCHR, os.makedev(1, 1))
    print("ESCAPE: a device")
except OSError as refused:
    print("refused:", refused)
