"""Tries: open the machine's memory, disks and virtual machines.

Must: find a handful of harmless devices.
Outcome: passed
Stopped by: fixed
"""

import os

assert answer() == 42
print("attack: devices", flush=True)
for name in (
    "mem",
    "kmem",
    "port",
    "kvm",
    "sda",
    "vda",
    "nvme0n1",
    "loop-control",
    "fuse",
    "net/tun",
    "kmsg",
    "dri/card0",
):
    try:
        os.close(os.open(f"/dev/{name}", os.O_RDONLY))
        print("ESCAPE:", name)
    except OSError:
        pass
