"""Tries: reach a Unix socket of the machine that has a name and no file.

Must: find no such name: they belong to the network namespace.
Outcome: passed
Stopped by: own network
"""

import socket

assert answer() == 42
print("attack: an abstract Unix socket", flush=True)
try:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        connection.connect("\0cosqa-outside")
        print("ESCAPE: connected")
except OSError as refused:
    print("refused:", refused)
