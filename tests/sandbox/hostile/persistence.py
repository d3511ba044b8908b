"""Tries: leave files behind in every folder that it may write to, for the next program.

Must: be forgotten: the next program finds nothing.
Outcome: passed
Stopped by: teardown
"""

import os

assert answer() == 42
print("attack: leave files behind", flush=True)
left = 0
for folder in ("/tmp", "/dev/shm", "/dev/mqueue", "/var/tmp", "/run/lock", "/run"):
    try:
        with open(f"{folder}/hostile", "w") as file:
            file.write("left")
        left += 1
    except OSError:
        pass
assert left >= 2
