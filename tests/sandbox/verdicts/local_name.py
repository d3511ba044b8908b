"""The name localhost is known.

Right: passed
"""

# candidate
import socket


def address(host):
    return socket.gethostbyname(host)


# program
assert address("localhost") == "127.0.0.1"
