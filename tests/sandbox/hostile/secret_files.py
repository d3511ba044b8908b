"""Tries: find the caller's secrets in files: home folders, settings, caches.

Must: see no file of the machine's but the interpreter's.
Outcome: passed
Stopped by: own files
"""

import glob
import os

assert answer() == 42


def readable(path):
    try:
        with open(path, "rb") as file:
            return file.read(1 << 20)
    except OSError:
        return b""


PLANTED = b"PLANTED" + b"SECRET"
print("attack: files", flush=True)
places = (
    "/root/.*",
    "/home/*/.*",
    "/etc/shadow",
    "/var/tmp/cosqa-planted-secret",
    "/var/lib/*/*",
    "/opt/*",
    "/srv/*",
)
paths = [path for place in places for path in glob.glob(place)]
found = [path for path in paths if os.path.isfile(path) and PLANTED in readable(path)]
print("ESCAPE: secrets in" if found else "nothing:", found)
