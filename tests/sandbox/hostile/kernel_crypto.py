"""Tries: reach the kernel's cryptography, a large surface, by a socket.

Must: be refused the socket.
Outcome: passed
Stopped by: system call filter
"""

import errno
import socket

assert answer() == 42
print("attack: AF_ALG", flush=True)
try:
    socket.socket(socket.AF_ALG, socket.SOCK_SEQPACKET)
    print("ESCAPE: the socket is open")
except OSError as refused:
    print("refused:" if refused.errno == errno.EPERM else "ESCAPE:", refused)
