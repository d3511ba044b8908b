"""Tries: make files without content until the kernel's memory for them is gone.

Must: be refused more files, or be ended as out of memory.
Outcome: errored | out_of_memory
Stopped by (docker): inode limit
Stopped by (bubblewrap): memory limit
Limits: memory_mb=40, seconds=12
"""

import os

assert answer() == 42
print("attack: empty files", flush=True)
os.chdir("/tmp")
for number in range(60_000):
    os.close(os.open(f"hostile-{number}", os.O_CREAT | os.O_WRONLY))
print("ESCAPE: 60,000 files")
