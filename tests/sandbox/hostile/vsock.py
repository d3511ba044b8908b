"""Tries: reach the machine that holds this one, by a virtual socket.

Must: be refused the socket.
Outcome: passed
Stopped by: system call filter
"""

import errno
import socket

assert answer() == 42
print("attack: AF_VSOCK", flush=True)
try:
    socket.socket(socket.AF_VSOCK, socket.SOCK_STREAM)
    print("ESCAPE: the socket is open")
except OSError as refused:
    print("refused:" if refused.errno == errno.EPERM else "ESCAPE:", refused)
