"""Tries: read secrets off the command lines of other processes.

Must: see only the harness's.
Outcome: passed
Stopped by: own processes
Limits: memory_mb=65536
"""

import glob

assert answer() == 42


def readable(path):
    try:
        with open(path, "rb") as file:
            return file.read(1 << 20)
    except OSError:
        return b""


print("attack: command lines", flush=True)
lines = {readable(path) for path in glob.glob("/proc/[0-9]*/cmdline")}
foreign = [
    line
    for line in lines
    if line and b"sandbox.harness" not in line and b"docker-init" not in line and b"bwrap" not in line
]
print("ESCAPE: sees" if foreign else "nothing:", foreign[:1])
