"""Tries: read the harness's memory and environment: the verdict is made there.

Must: be refused: a process that may not be dumped cannot be read.
Outcome: errored
Stopped by: no rights
Stopped by (forked): fixed
Report: suspicious
"""

import os

assert answer() == 42
print("attack: read process 1", flush=True)
for name in ("mem", "environ", "maps", "auxv"):
    try:
        with open(f"/proc/{os.getppid()}/{name}", "rb") as file:
            print("ESCAPE:", name, "is open to read" if name == "mem" or file.read(1) else "is empty")
    except OSError as refused:
        print("refused:", refused)
print("it would be /proc/1/mem")
