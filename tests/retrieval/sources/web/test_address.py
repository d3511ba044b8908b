"""Addresses that people give reach public machines alone, whatever names and redirects say."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from retrieval.sources.web import address
from retrieval.sources.web.address import is_public
from retrieval.sources.web.download import NotDownloaded, Terms, download_file
from tests.retrieval.sources.web.test_download import CONTENT, Handler, server

__all__ = ["server"]
STRANGERS = Terms(strangers=True)


@pytest.mark.parametrize(
    "host",
    [
        "127.0.0.1",
        "127.8.8.8",
        "10.0.0.1",
        "172.16.0.1",
        "192.168.1.1",
        "169.254.169.254",
        "100.64.0.1",
        "0.0.0.0",
        "224.0.0.1",
        "255.255.255.255",
        "::1",
        "::",
        "fe80::1%2",
        "fd00::1",
        "ff02::1",
        "::ffff:127.0.0.1",
        "2002:7f00:1::",
        "64:ff9b::a00:1",
        "2001:0:0:0:0:0:f5ff:fffe",
    ],
)
def test_machines_of_the_own_network_are_not_public(host: str) -> None:
    assert not is_public(host)


@pytest.mark.parametrize("host", ["8.8.8.8", "2606:4700::6810:84e5", "64:ff9b::808:808", "::ffff:8.8.8.8"])
def test_others_are(host: str) -> None:
    assert is_public(host)


def test_this_machine_is_refused_before_it_is_asked(server: str, tmp_path: Path) -> None:
    for host in ("127.0.0.1", "localhost", "2130706433"):
        with pytest.raises(NotDownloaded, match="is no public machine") as refused:
            download_file(f"{server.replace('127.0.0.1', host)}/data", tmp_path, terms=STRANGERS)
        assert not refused.value.retryable
    assert Handler.asked == []


def test_a_name_with_one_public_address_among_others_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    def found(*_: object, **__: object) -> list[tuple[object, ...]]:
        return [(socket.AF_INET, 1, 6, "", (host, 80)) for host in ("8.8.8.8", "10.0.0.1")]

    monkeypatch.setattr(socket, "getaddrinfo", found)
    with pytest.raises(NotDownloaded, match=r"both\.example is no public machine"):
        download_file("http://both.example/data", Path(), terms=STRANGERS)


def test_what_was_judged_is_connected_to_and_the_name_is_not_asked_again(
    server: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[object] = []
    ask = socket.getaddrinfo

    def found(host: object, *rest: object, **options: object) -> object:
        asked.append(host)
        return ask("127.0.0.1" if host == "name.example" else host, *rest, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(socket, "getaddrinfo", found)
    monkeypatch.setattr(address, "is_public", lambda host: True)
    place = server.replace("127.0.0.1", "name.example")
    assert download_file(f"{place}/data", tmp_path, terms=STRANGERS).read_bytes() == CONTENT
    assert asked.count("name.example") == 1


@pytest.mark.parametrize("to", ["http://127.0.0.2:9/x", "ftp://127.0.0.1/x", "file:///etc/passwd"])
def test_redirects_lead_nowhere_else(
    server: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, to: str
) -> None:
    def redirect(self: Handler) -> None:
        self.send_response(302)
        self.send_header("Location", to)
        self.send_header("Content-Length", "0")
        self.end_headers()

    monkeypatch.setattr(Handler, "do_GET", redirect)
    monkeypatch.setattr(address, "is_public", lambda host: host == "127.0.0.1")
    with pytest.raises(NotDownloaded, match=r"no public machine|unknown url type: ftp|302"):
        download_file(f"{server}/data", tmp_path, terms=STRANGERS)
    assert not list(tmp_path.iterdir())


def test_a_proxy_of_the_environment_is_not_asked(
    server: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("http_proxy", server)
    monkeypatch.setattr(address, "is_public", lambda host: False)
    with pytest.raises(NotDownloaded, match="no public machine"):
        download_file("http://127.0.0.3/data", tmp_path, terms=STRANGERS)
    assert Handler.asked == []
