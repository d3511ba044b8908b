"""Sandboxes that a Python in a bubblewrap forks, one after another, where a start for each would take longer.

Two levels: around all of them stands a bubblewrap as around any run, but for the system call filter and the
ban on namespaces. Each run gets those with namespaces of its own: see sandbox/harness/fork_server.py.
"""

import os
import socket
import threading
import time
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Generic, TypeVar

from sandbox.backends.execution import GRACE_SECONDS, HarnessLost, Reply, read_reply
from sandbox.backends.piped import Piped, read_in_time, send_in_time

MOST_RUNS = 200
"""After so many runs it is started anew, as after any end that is not as it should be."""


@dataclass
class ForkServer:
    """A bubblewrap whose Python waits for the ends of the next two pipes on the other side of `link`."""

    piped: Piped
    link: socket.socket
    runs: int = 0

    def alive(self) -> bool:
        """Whether it can make one more."""
        return self.runs < MOST_RUNS and self.piped.alive()

    def converse(self, message: bytes, seconds: float) -> Reply:
        """Make a sandbox, send it its request and read the reply; all of it is gone then.

        Raises HarnessLost, Garbled and SandboxUnavailable, as Piped.converse.
        """
        self.runs += 1
        return self.piped.told(lambda: self._conversed(message, time.monotonic() + seconds))

    def close(self) -> None:
        """End all of it."""
        self.link.close()
        self.piped.close()

    def _conversed(self, message: bytes, deadline: float) -> bytes:
        (their_in, ours_out), (ours_in, their_out) = os.pipe(), os.pipe()
        try:
            try:
                socket.send_fds(self.link, [b"."], [their_in, their_out])
            finally:
                os.close(their_in)
                os.close(their_out)
            send_in_time(ours_out, len(message).to_bytes(4, "big") + message, deadline)
            data = read_reply(read_in_time(ours_in, deadline))
        except OSError as error:
            raise HarnessLost(str(error)) from error
        finally:
            os.close(ours_out)
            os.close(ours_in)
        self.link.settimeout(GRACE_SECONDS)
        if not self.link.recv(1):
            raise HarnessLost("the fork server ended")
        return data


Shape = TypeVar("Shape", bound=Hashable)


class ForkServers(Generic[Shape]):
    """Those that wait, at most `size` of the shape that was asked for last; more are started as needed."""

    def __init__(self, size: int, start: Callable[[Shape], ForkServer]) -> None:
        self._size, self._start = size, start
        self._waiting: list[tuple[Shape, ForkServer]] = []
        self._lock, self._closed = threading.Lock(), False

    def take(self, shape: Shape) -> ForkServer:
        """One that waits, or a new one; `give_back` takes it again. Raises what starting raises."""
        while True:
            with self._lock:
                if not self._waiting:
                    break
                made_for, server = self._waiting.pop()
            if made_for == shape and server.alive():
                return server
            server.close()
        return self._start(shape)

    def give_back(self, shape: Shape, server: ForkServer, clean: bool) -> None:
        """Keep it for another run, but not where anything in the last one was not `clean`."""
        with self._lock:
            if clean and server.alive() and not self._closed and len(self._waiting) < self._size:
                self._waiting.append((shape, server))
                return
        server.close()

    def close(self) -> None:
        """End those that wait; what was taken is ended when it is given back."""
        with self._lock:
            self._closed, waiting = True, self._waiting
            self._waiting = []
        for _, server in waiting:
            server.close()
