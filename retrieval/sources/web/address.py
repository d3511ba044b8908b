"""Opens addresses of the web; for people's addresses only public machines, redirects and names included.

Whoever names an address makes this machine ask for it. Its own services and those of its network answer it
though they would not answer the person, so a name is looked up once, every address that it has is judged, and
exactly those are connected to: a name that means another machine the next moment gains nothing.
"""

from __future__ import annotations

import http.client
import ipaddress
import socket
import urllib.request
from functools import cache
from typing import Any, Final

SECONDS: Final = 30
TRANSLATED: Final = ipaddress.ip_network("64:ff9b::/96")
Address = ipaddress.IPv4Address | ipaddress.IPv6Address


class NotPublic(OSError):
    """A host is refused, as it is, or may be, a machine of the own network; the message names it."""


@cache
def build_url_opener(public: bool, follows: bool = True) -> urllib.request.OpenerDirector:
    """What opens http(s) and follows redirects to no other scheme, or none unless it `follows`.

    With `public` it connects by itself to public addresses alone: behind a proxy nobody here knows to which.
    """
    made = urllib.request.OpenerDirector()
    handlers: list[urllib.request.BaseHandler] = [
        *([_Http(), _Https()] if public else _as_the_machine_does()),
        urllib.request.UnknownHandler(),
        urllib.request.HTTPDefaultErrorHandler(),
        *([urllib.request.HTTPRedirectHandler()] if follows else []),
        urllib.request.HTTPErrorProcessor(),
    ]
    for handler in handlers:
        made.add_handler(handler)
    return made


def is_public(host: str) -> bool:
    """Whether a numeric address is of a public machine, also inside an IPv6 address that stands for it.

    >>> is_public("127.0.0.1"), is_public("::ffff:10.0.0.1"), is_public("8.8.8.8")
    (False, False, True)
    """
    address = ipaddress.ip_address(host)
    return all(each.is_global and not each.is_multicast for each in (address, *list_inner_addresses(address)))


def list_inner_addresses(address: Address) -> list[Address]:
    """The IPv4 addresses that an IPv6 address leads to: mapped, 6to4, Teredo's ends, translated."""
    if isinstance(address, ipaddress.IPv4Address):
        return []
    found: list[Address | None] = [address.ipv4_mapped, address.sixtofour, *(address.teredo or ())]
    if address in TRANSLATED:
        found.append(ipaddress.IPv4Address(int(address) & 0xFFFFFFFF))
    return [each for each in found if each is not None]


def _connected(place: tuple[str, int], timeout: Any = SECONDS, source: Any = None) -> socket.socket:
    """A socket to a host whose addresses are all public. Raises NotPublic, OSError."""
    host, port = place
    found = [str(row[4][0]) for row in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)]
    if not all(is_public(each) for each in found):
        raise NotPublic(f"{host} is no public machine, and such downloads are refused")
    for number, each in enumerate(found, 1):
        try:
            return socket.create_connection((each, port), timeout, source)
        except OSError:
            if number == len(found):
                raise
    raise OSError(f"{host} has no address")


class _HttpConnection(http.client.HTTPConnection):
    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._create_connection = _connected  # what the standard library's connect() asks for its socket


class _HttpsConnection(http.client.HTTPSConnection):
    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._create_connection = _connected  # the certificate is still compared with the name


class _Http(urllib.request.HTTPHandler):
    def http_open(self, request: urllib.request.Request) -> http.client.HTTPResponse:
        return self.do_open(_HttpConnection, request)


class _Https(urllib.request.HTTPSHandler):
    def https_open(self, request: urllib.request.Request) -> http.client.HTTPResponse:
        return self.do_open(_HttpsConnection, request)


def _as_the_machine_does() -> list[urllib.request.BaseHandler]:
    """Any address, and through the proxy that the environment names."""
    return [urllib.request.ProxyHandler(), urllib.request.HTTPHandler(), urllib.request.HTTPSHandler()]
