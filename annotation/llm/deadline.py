"""The HTTP client of language models: an end to every reply, and connections only where they may lead.

The client bounds each wait by itself, and a body that drips never waits long.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import httpx2

LONGEST: Final = 3
"""No call takes longer than so many times the timeout: to connect, to its first line, to its end."""


def bounded_client(seconds: float, judged: Sequence[str] = ()) -> httpx2.Client:
    """An HTTP client that follows no redirect, and whose bodies have to be whole so many seconds after their
    first line.

    A later one is a timeout like any other; with a timeout of as many seconds no call takes longer than
    LONGEST times that. With `judged` it connects to these numeric addresses alone, and through no proxy.
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
    return anthropic.DefaultHttpxClient(
        follow_redirects=False,
        event_hooks={"response": [bound]},
        transport=build_pinned_transport(judged) if judged else None,
    )


def build_pinned_transport(judged: Sequence[str]) -> httpx2.BaseTransport:
    """What connects to one of the numeric addresses, whatever a request's name means by then.

    The server still hears the name, and its certificate is still compared with that.
    """
    import httpx2

    class Pinned(httpx2.HTTPTransport):
        def handle_request(self, request: httpx2.Request) -> httpx2.Response:
            for number, address in enumerate(judged, 1):
                try:
                    return super().handle_request(_readdressed(request, address))
                except httpx2.ConnectError:
                    if number == len(judged):
                        raise
            raise AssertionError("the last address returns or raises")

    return Pinned()


def _readdressed(request: httpx2.Request, address: str) -> httpx2.Request:
    import httpx2

    return httpx2.Request(
        request.method,
        request.url.copy_with(host=address),
        headers=request.headers,  # with the name, as Host
        stream=request.stream,
        extensions={**request.extensions, "sni_hostname": request.url.host},
    )
