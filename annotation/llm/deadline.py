"""An end to every reply: the client bounds each wait by itself, and a body that drips never waits long."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import httpx2

LONGEST: Final = 3
"""No call takes longer than so many times the timeout: to connect, to its first line, to its end."""


def bounded_client(seconds: float) -> httpx2.Client:
    """An HTTP client that follows no redirect, and whose bodies have to be whole so many seconds after their
    first line.

    A later one is a timeout like any other; with a timeout of as many seconds no call takes longer than
    LONGEST times that.
    """
    import anthropic
    import httpx2

    class Bounded(httpx2.SyncByteStream):
        def __init__(self, response: httpx2.Response) -> None:
            self._response, self._stream = response, response.stream
            self._ends = time.monotonic() + seconds

        def __iter__(self) -> Iterator[bytes]:
            assert isinstance(self._stream, httpx2.SyncByteStream), "a sync client's stream"
            for part in self._stream:
                yield part
                if time.monotonic() > self._ends:
                    told = f"the reply was not whole after {seconds:g} s"
                    raise httpx2.ReadTimeout(told, request=self._response.request)

        def close(self) -> None:
            if isinstance(self._stream, httpx2.SyncByteStream):
                self._stream.close()

    def bound(response: httpx2.Response) -> None:
        response.stream = Bounded(response)

    # A redirect would take the key, and a pair's text, to an address that nobody has named.
    return anthropic.DefaultHttpxClient(follow_redirects=False, event_hooks={"response": [bound]})
