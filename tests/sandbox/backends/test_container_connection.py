"""A reply through the engine's frames, however they are cut."""

import socket
import threading
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sandbox.backends.container_connection import Attached
from sandbox.backends.execution import HarnessLost

Pair = tuple[Attached, socket.socket]


@pytest.fixture
def pair() -> Iterator[Pair]:
    here, engine = socket.socketpair()
    with here, engine:
        yield Attached("one", here), engine


def _framed(data: bytes, stream: int, sizes: list[int]) -> bytes:
    frames, rest = b"", data
    while rest:
        size = sizes.pop() if sizes else len(rest)
        part, rest = rest[:size], rest[size:]
        frames += bytes([stream, 0, 0, 0]) + len(part).to_bytes(4, "big") + part
    return frames


def _answer(engine: socket.socket, data: bytes) -> None:
    engine.recv(1 << 16)
    engine.sendall(data)
    engine.shutdown(socket.SHUT_WR)


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(
    data=st.binary(max_size=300), sizes=st.lists(st.integers(1, 40), max_size=20), noise=st.binary(max_size=9)
)
def test_a_reply_is_read_whole_however_it_is_framed(data: bytes, sizes: list[int], noise: bytes) -> None:
    here, engine = socket.socketpair()
    with here, engine:
        message = len(data).to_bytes(4, "big") + data
        sent = _framed(noise, 2, []) + _framed(message, 1, sizes)
        answering = threading.Thread(target=_answer, args=(engine, sent))
        answering.start()
        assert Attached("one", here).converse(b"{}", 60) == data
        answering.join()


def test_what_the_harness_said_last_is_the_reason(pair: Pair) -> None:
    attached, engine = pair
    threading.Thread(target=_answer, args=(engine, _framed(b"no such folder", 2, []))).start()
    with pytest.raises(HarnessLost, match="no such folder"):
        attached.converse(b"{}", 60)


def test_one_that_says_nothing_is_given_up(pair: Pair) -> None:
    with pytest.raises(HarnessLost, match="did not answer"):
        pair[0].converse(b"{}", 0.05)


def test_one_that_waits_lives_and_one_that_hung_up_does_not(pair: Pair) -> None:
    attached, engine = pair
    assert attached.alive()
    engine.close()
    assert not attached.alive()
