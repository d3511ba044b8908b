"""Posts to addresses of people: to public machines by https alone, no redirect, each ends in time."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator

import pytest

from retrieval.sources.web import post
from retrieval.sources.web.post import NotPosted, post_bytes
from tests.receiver import Receiver, run_receiver


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with run_receiver() as found:
        yield found


@pytest.fixture(autouse=True)
def nothing_hangs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(post, "_hanging", [])


def send(url: str, *, public: bool = False) -> post.Answer:
    return post_bytes(
        url, b'{"a": 1}', {"Content-Type": "application/json", "webhook-id": "m"}, public=public
    )


@pytest.mark.parametrize("status", [200, 204, 400, 404, 500])
def test_an_answer_of_any_status_comes_back(receiver: Receiver, status: int) -> None:
    receiver.status, receiver.body = status, b"" if status == 204 else b"so"
    assert send(f"{receiver.url}/hook?x=1") == post.Answer(status, receiver.body)
    [(path, headers, body)] = receiver.asked
    assert (path, body) == ("/hook?x=1", b'{"a": 1}')
    assert (headers["content-type"], headers["webhook-id"]) == ("application/json", "m")


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_no_redirect_is_followed(receiver: Receiver, status: int) -> None:
    receiver.status, receiver.headers = status, {"Location": "/elsewhere"}
    assert send(f"{receiver.url}/hook").status == status
    assert [path for path, _, _ in receiver.asked] == ["/hook"]


@pytest.mark.parametrize("status", [200, 500])
def test_of_a_long_answer_the_beginning_is_read(receiver: Receiver, status: int) -> None:
    receiver.status, receiver.body = status, b"x" * 5_000_000
    assert len(send(receiver.url).body) == post.ANSWER_BYTES


@pytest.mark.parametrize(
    "host", ["127.0.0.1", "localhost", "2130706433", "[::1]", "10.0.0.1", "169.254.169.254"]
)
def test_the_own_network_is_not_asked(receiver: Receiver, host: str) -> None:
    port = receiver.url.rpartition(":")[2]
    with pytest.raises(NotPosted, match="is no public machine"):
        send(f"https://{host}:{port}/hook", public=True)
    assert receiver.asked == []


def test_a_name_with_one_private_address_is_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    def found(*_: object, **__: object) -> list[tuple[object, ...]]:
        return [(socket.AF_INET, 1, 6, "", (host, 443)) for host in ("8.8.8.8", "10.0.0.1")]

    monkeypatch.setattr(socket, "getaddrinfo", found)
    with pytest.raises(NotPosted, match=r"^both\.example is no public machine$"):
        send("https://both.example/hook", public=True)


def test_plain_http_is_for_the_own_network_alone(receiver: Receiver) -> None:
    with pytest.raises(NotPosted, match="does not begin with https"):
        send(receiver.url, public=True)
    assert receiver.asked == []
    assert send(receiver.url).status == 204


@pytest.mark.parametrize(
    "url", ["http://127.0.0.1:1/", "http://no-such-host.invalid/", f"http://{'a' * 70}.example/"]
)
def test_who_cannot_be_reached_is_told(url: str) -> None:
    with pytest.raises(NotPosted, match=r".{5}"):
        send(url)


def test_other_schemes_have_no_door(tmp_path: object) -> None:
    for url in (f"file://{tmp_path}", "ftp://127.0.0.1/x", "data:,x"):
        with pytest.raises(NotPosted):
            send(url)


def test_a_slow_answer_is_given_up_in_time(receiver: Receiver, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(post, "SECONDS", 0.3)
    receiver.pause = 1.5
    began = time.monotonic()
    with pytest.raises(NotPosted, match=r"timed out|within 0\.3 seconds"):
        send(receiver.url)
    assert time.monotonic() - began < 1.2


def test_an_answer_that_drips_is_given_up_and_few_may_hang(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each byte comes in time, and the line never ends: no limit of a socket's wait helps."""
    monkeypatch.setattr(post, "SECONDS", 0.5)
    monkeypatch.setattr(post, "MOST_HANGING", 1)
    ends = threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def drip() -> None:
            link, _ = listener.accept()
            with link:
                link.recv(10_000)
                while not ends.wait(0.1):
                    link.send(b"H")

        thread = threading.Thread(target=drip)
        thread.start()
        url = f"http://127.0.0.1:{listener.getsockname()[1]}/"
        with pytest.raises(NotPosted, match="no whole answer within"):
            send(url)
        with pytest.raises(NotPosted, match="too many other addresses"):
            send(url)
        [hanging] = post._hanging
        ends.set()
        thread.join()
        hanging.join(10)
    with pytest.raises(NotPosted, match="refused"):
        send(url)  # and now there is room again
