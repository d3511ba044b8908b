"""Tries: have the machine start a program when a control group empties.

Must: find no control group that it can write to.
Outcome: passed
Stopped by: fixed
"""

import glob
import os

assert answer() == 42
print("attack: control groups", flush=True)
for path in glob.glob("/sys/fs/cgroup/*/release_agent") + glob.glob("/sys/fs/cgroup/**/cgroup.procs"):
    try:
        open(path, "r+").close()
        print("ESCAPE:", path)
    except OSError as refused:
        print("refused:", refused)
try:
    os.mkdir("/sys/fs/cgroup/memory/hostile")
    print("ESCAPE: a group of its own")
except OSError as refused:
    print("refused:", refused)
