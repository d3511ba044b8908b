"""Tries: keep files among the devices, where nobody looks and nobody sizes.

Must: be refused.
Outcome: passed
Stopped by (docker): no rights
Stopped by (bubblewrap): read-only root
"""

assert answer() == 42
print("attack: write to /dev", flush=True)
try:
    with open("/dev/hostile", "w") as file:
        file.write("left")
    print("ESCAPE: written")
except OSError as refused:
    print("refused:", refused)
