"""Tries: find the caller's secrets in its environment.

Must: see a fixed environment that is nobody's.
Outcome: passed
Stopped by: own environment
"""

import os

assert answer() == 42


def readable(path):
    try:
        with open(path, "rb") as file:
            return file.read(1 << 20)
    except OSError:
        return b""


PLANTED = b"PLANTED" + b"SECRET"
print("attack: environments", flush=True)
found = [
    path
    for path in ("/proc/self/environ", "/proc/1/environ", f"/proc/{os.getppid()}/environ")
    if PLANTED in readable(path)
]
found += [name for name, value in os.environ.items() if PLANTED.decode() in value]
print("ESCAPE: secrets in" if found else "nothing:", found)
