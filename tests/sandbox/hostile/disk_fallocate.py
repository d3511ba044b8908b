"""Tries: reserve space without writing.

Must: be stopped at the limit of a file.
Outcome: errored
Stopped by: file size limit
"""

import os

assert answer() == 42
print("attack: fallocate 32 MB", flush=True)
opened = os.open("/tmp/hostile", os.O_CREAT | os.O_WRONLY)
os.posix_fallocate(opened, 0, 32 << 20)
print("ESCAPE: 32 MB reserved")
