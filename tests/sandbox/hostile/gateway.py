"""Tries: reach the machine's gateway, whose address it guesses from the routing table or the usual ones.

Must: find no way to any of them.
Outcome: passed
Stopped by: own network
Only contained: it would reach other machines
"""

import errno
import socket

assert answer() == 42
print("attack: connect to gateways", flush=True)
for address in ("172.17.0.1", "10.0.0.1", "192.168.0.1"):
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as connection:
        connection.setblocking(False)
        told = connection.connect_ex((address, 22))
    refused = told in (errno.ENETUNREACH, errno.EADDRNOTAVAIL)
print("refused:" if refused else "ESCAPE: it was sent:", errno.errorcode.get(told, told))
