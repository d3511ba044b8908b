"""Tries: command the container engine by its socket, which is to be root on the machine.

Must: find no socket.
Outcome: passed
Stopped by: own files
Needs: /run/docker.sock
"""

import glob
import os
import stat

assert answer() == 42
print("attack: sockets", flush=True)
names = (
    "/run/docker.sock",
    "/var/run/docker.sock",
    "/run/containerd/containerd.sock",
    "/run/podman/podman.sock",
)
found = [name for name in names if os.path.exists(name)]
found += [name for name in glob.glob("/run/*") + glob.glob("/tmp/*") if stat.S_ISSOCK(os.stat(name).st_mode)]
print("ESCAPE: sockets" if found else "nothing:", found)
