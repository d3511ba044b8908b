"""Tries: talk to the kernel's network configuration by netlink.

Must: be refused the socket.
Outcome: passed
Stopped by: system call filter
"""

import errno
import socket

assert answer() == 42
print("attack: AF_NETLINK", flush=True)
try:
    socket.socket(socket.AF_NETLINK, socket.SOCK_RAW)
    print("ESCAPE: the socket is open")
except OSError as refused:
    print("refused:" if refused.errno == errno.EPERM else "ESCAPE:", refused)
