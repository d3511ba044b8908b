"""Tries: have others killed in its place when the machine runs out of memory.

Must: be refused. Docker: by an engine that may raise the lowest score (CAP_SYS_RESOURCE), as most may.
Outcome: passed
Stopped by (bubblewrap): read-only root
Stopped by (docker): nothing
"""

import os

assert answer() == 42
print("attack: lower the score", flush=True)
with open("/proc/self/oom_score_adj") as file:
    given = int(file.read())
for wanted in (-1000, 0, given - 1):
    try:
        with open("/proc/self/oom_score_adj", "wb", buffering=0) as file:
            file.write(str(wanted).encode())
        print("ESCAPE: from", given, "to", wanted)
    except OSError as refused:
        print("refused:", refused)
