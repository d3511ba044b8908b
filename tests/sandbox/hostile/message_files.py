"""Tries: keep POSIX message queues as files, in memory that no folder's size bounds.

Must: find no such folder, or one that is read-only.
Outcome: passed
Stopped by: fixed
"""

import os

assert answer() == 42
print("attack: make a queue", flush=True)
try:
    os.close(os.open("/dev/mqueue/hostile", os.O_CREAT | os.O_RDWR))
    print("ESCAPE: a queue")
except OSError as refused:
    print("refused:", refused)
