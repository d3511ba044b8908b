"""Tries: write into every open descriptor.

Must: be told: something else wrote into the record.
Outcome: errored
Stopped by: signs of forging
Report: suspicious
"""

import os

assert answer() == 42
print("attack: write into descriptors", flush=True)
for descriptor in range(3, 256):
    try:
        os.write(descriptor, b"passed\n")
    except OSError:
        pass
assert answer() == 42
