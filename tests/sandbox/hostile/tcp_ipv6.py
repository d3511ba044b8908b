"""Tries: reach a service on the machine's loopback by IPv6.

Must: find nobody: loopback is its own.
Outcome: passed
Stopped by: own network
"""

import socket

assert answer() == 42
print("attack: TCP to ::1", flush=True)
try:
    with socket.create_connection(("::1", 46021), timeout=2):
        print("ESCAPE: connected")
except OSError as refused:
    print("refused:", refused)
