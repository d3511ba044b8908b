"""Tries: reach a machine on the internet.

Must: be told that there is no way there; no packet leaves.
Outcome: passed
Stopped by: own network
Only contained: it would reach other machines
"""

import errno
import socket

assert answer() == 42
print("attack: connect to 203.0.113.1", flush=True)
with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as connection:
    connection.setblocking(False)
    told = connection.connect_ex(("203.0.113.1", 443))
refused = told in (errno.ENETUNREACH, errno.EADDRNOTAVAIL)
print("refused:" if refused else "ESCAPE: it was sent:", errno.errorcode.get(told, told))
