"""Tries: become root by a program that has the setuid mark.

Must: stay who it is: marks have no effect, or there is no such program.
Outcome: passed
Stopped by (docker): no new privileges
Stopped by (bubblewrap): fixed
"""

import os
import subprocess
import time

assert answer() == 42
print("attack: run setuid programs", flush=True)
for tool in ("/usr/bin/su", "/bin/su", "/usr/bin/passwd", "/usr/bin/chsh", "/usr/bin/newgrp"):
    if not os.path.exists(tool):
        continue
    with subprocess.Popen(
        [tool], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as process:
        time.sleep(0.2)
        try:
            with open(f"/proc/{process.pid}/status") as file:
                identity = next(line.split() for line in file if line.startswith("Uid:"))
        except OSError:
            identity = []
        process.kill()
    if os.getuid() and "0" in identity:
        print("ESCAPE: runs as root:", tool, identity)
