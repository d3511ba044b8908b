"""A started container, spoken to through the connection that its engine hung on its input and output."""

import select
import socket
import time
from dataclasses import dataclass, field
from typing import Any

from sandbox.backends.execution import HarnessLost, read_reply


@dataclass
class Attached:
    """A container whose harness waits; `connection` is what the SDK gave for its streams."""

    name: str
    connection: Any
    _buffered: bytearray = field(default_factory=bytearray)
    _errors: bytearray = field(default_factory=bytearray)

    @property
    def _stream(self) -> socket.socket:
        # The SDK wraps the connection that it took over into a file that can only be read.
        stream: socket.socket = getattr(self.connection, "_sock", self.connection)
        return stream

    def alive(self) -> bool:
        """Whether it still waits: a harness that was not asked says nothing, and one that ended hangs up."""
        poll = select.poll()
        poll.register(self._stream, select.POLLIN)
        return not poll.poll(0)

    def close(self) -> None:
        """Close the response that the SDK hung the connection on, then the connection."""
        for part in (getattr(self.connection, "_response", None), self.connection, self._stream):
            if part is not None:
                part.close()

    def converse(self, message: bytes, seconds: float) -> bytes:
        """Send the request and read the reply. Raises HarnessLost and Garbled."""
        deadline = time.monotonic() + seconds
        try:
            self._stream.settimeout(seconds)
            self._stream.sendall(len(message).to_bytes(4, "big") + message)
            return read_reply(lambda at_most: self._output(at_most, deadline))
        except (OSError, HarnessLost) as error:
            told = bytes(self._errors).decode(errors="replace").strip()
            raise HarnessLost(told or f"the container's harness did not answer: {error}") from error

    def _output(self, at_most: int, deadline: float) -> bytes:
        """Standard output out of the engine's frames: stream number, three zeros, length, data."""
        while not self._buffered:
            header = self._received(8, deadline)
            if not header:
                return b""
            data = self._received(int.from_bytes(header[4:], "big"), deadline)
            (self._buffered if header[0] == 1 else self._errors).extend(data)
        part = bytes(self._buffered[:at_most])
        del self._buffered[:at_most]
        return part

    def _received(self, length: int, deadline: float) -> bytes:
        data = bytearray()
        while len(data) < length:
            self._stream.settimeout(max(deadline - time.monotonic(), 0.001))
            part = self._stream.recv(min(length - len(data), 1 << 16))
            if not part:
                return b""
            data += part
        return bytes(data)
