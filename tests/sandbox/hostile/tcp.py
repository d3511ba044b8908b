"""Tries: reach a service that listens on the machine's loopback, such as its database.

Must: find nobody: loopback is its own.
Outcome: passed
Stopped by: own network
"""

import socket

assert answer() == 42
print("attack: TCP to the machine's loopback", flush=True)
try:
    with socket.create_connection(("127.0.0.1", 46021), timeout=2):
        print("ESCAPE: connected")
except OSError as refused:
    print("refused:", refused)
