"""Tries: take every core of the machine at once.

Must: get no more than one core's time.
Outcome: passed
Stopped by (docker): cpu share
Stopped by (bubblewrap): nothing
"""

import os
import time

assert answer() == 42
print("attack: four busy processes", flush=True)
started = time.monotonic()
for _ in range(4):
    if os.fork() == 0:
        while time.monotonic() < started + 0.3:
            pass
        os._exit(0)
for _ in range(4):
    os.wait()
shares = []
# Groups of the first and the second kind: how much they may use a period, the period.
for name in ("cpu/cpu.cfs_quota_us", "cpu.max"):
    try:
        with open(f"/sys/fs/cgroup/{name}") as file:
            shares.append(file.read().split()[0])
    except OSError:
        pass
limited = [share for share in shares if share not in ("-1", "max")]
print("held to" if limited else "ESCAPE: every core is its own:", shares)
