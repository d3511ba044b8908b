"""Tries: see the machine's network interfaces, and through them where it stands.

Must: see only its own loopback.
Outcome: passed
Stopped by: own network
"""

import socket

assert answer() == 42
print("attack: list interfaces and routes", flush=True)
with open("/proc/net/dev") as devices, open("/proc/net/route") as routes:
    found = [line.split(":")[0].strip() for line in devices.readlines()[2:]]
    ways = routes.readlines()[1:]
print("ESCAPE:" if set(found) - {"lo"} or ways else "alone:", found, len(ways))
