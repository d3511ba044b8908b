"""Tries: send a datagram to a service of the machine.

Must: find nobody: loopback is its own.
Outcome: passed
Stopped by: own network
"""

import socket
import time

assert answer() == 42
print("attack: UDP to the machine's loopback", flush=True)
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as connection:
    connection.connect(("127.0.0.1", 46021))
    try:
        connection.send(b"hello")
        time.sleep(0.2)
        connection.send(b"hello")
        print("ESCAPE: nobody refused it")
    except OSError as refused:
        print("refused:", refused)
