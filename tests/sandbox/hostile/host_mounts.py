"""Tries: find a folder of the machine that is mounted where it can be written.

Must: find only temporary folders to write to.
Outcome: passed
Stopped by: read-only packages
"""

import os

assert answer() == 42
print("attack: writable mounts", flush=True)
with open("/proc/self/mountinfo") as file:
    fields = [line.split() for line in file]
kinds = {one[4]: one[one.index("-") + 1] for one in fields}
own = ("tmpfs", "proc", "sysfs", "devpts", "mqueue", "devtmpfs", "cgroup", "cgroup2")
found = [place for place, kind in kinds.items() if kind not in own and os.access(place, os.W_OK)]
print("ESCAPE: writable" if found else "nothing:", found)
