"""Tries: change its root, the first step of an old way out.

Must: be refused.
Outcome: passed
Stopped by: system call filter + no rights
"""

import os

assert answer() == 42
print("attack: chroot", flush=True)
try:
    os.chroot("/tmp")
    print("ESCAPE: another root")
except OSError as refused:
    print("refused:", refused)
