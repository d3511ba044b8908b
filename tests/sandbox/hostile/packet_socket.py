"""Tries: read and write raw packets.

Must: be refused the socket.
Outcome: passed
Stopped by (bubblewrap): system call filter + no rights + no nested namespaces
Stopped by (docker): system call filter + no rights
"""

import errno
import socket

assert answer() == 42
print("attack: AF_PACKET", flush=True)
try:
    socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
    print("ESCAPE: the socket is open")
except OSError as refused:
    print("refused:" if refused.errno == errno.EPERM else "ESCAPE:", refused)
