"""Tries: write wherever it may, to be found by the next program: root, /var/tmp, /run, /etc, the harness.

Must: be refused everywhere but in its temporary folders.
Outcome: passed
Stopped by: read-only root
"""

import os

assert answer() == 42
print("attack: write everywhere", flush=True)
written = []
for folder in (
    "/",
    "/etc",
    "/usr",
    "/var",
    "/var/tmp",
    "/run",
    "/run/lock",
    "/home",
    "/root",
    "/harness",
    "/opt",
):
    try:
        os.makedirs(folder, exist_ok=True)
        with open(f"{folder}/hostile", "w") as file:
            file.write("left")
        written.append(folder)
    except OSError:
        pass
print("ESCAPE: written to" if written else "refused:", written)
