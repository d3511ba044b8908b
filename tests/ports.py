"""Ports for servers that are started in a moment, which nobody else is given meanwhile."""

from __future__ import annotations

import random
import socket
from pathlib import Path
from typing import Final

DRAWN_FROM: Final = Path("/proc/sys/net/ipv4/ip_local_port_range")
LOWEST: Final = 10_000
CHANCE: Final = random.SystemRandom()
"""Not the generator that tests seed: side by side they would draw the same."""


def free_port() -> int:
    """A free port below those that the kernel draws from.

    One that it draws itself, for port 0, is free again until the server listens: the many connections that
    other tests make meanwhile are given ports of the same range.
    """
    below = int(DRAWN_FROM.read_text().split()[0]) if DRAWN_FROM.exists() else 32_768
    while True:
        port = CHANCE.randrange(LOWEST, max(below, LOWEST + 1000))
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
        return port
