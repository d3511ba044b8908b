"""Tries: make the harness wait behind the program, by the priority of all processes of its user.

Must: be refused: the harness has the same user.
Outcome: passed
Stopped by: system call filter
"""

import os

assert answer() == 42
print("attack: priority of a user", flush=True)
try:
    os.setpriority(os.PRIO_USER, 0, 19)
except OSError as refused:
    print("refused:", refused)
if os.getpriority(os.PRIO_PROCESS, os.getppid()) == 19:
    print("ESCAPE: the harness is the last of all")
