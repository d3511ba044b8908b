"""A build is watched from its launch to its end without a reload, with the websocket and without."""

from __future__ import annotations

from tests.e2e.conftest import Watched


def counts(funnel: str) -> list[int]:
    return [int(number) for number in funnel.split()]


def test_the_page_follows_the_build_over_the_websocket(watched: Watched) -> None:
    assert not watched.reloaded
    assert "live" in watched.live_words
    assert "polling" not in watched.live_words
    assert len(set(watched.live)) >= 3, watched.live
    assert any(sum(counts(one)[:7]) for one in watched.live), "it was seen while cases were on their way"


def test_with_the_websocket_blocked_the_page_polls(watched: Watched) -> None:
    assert not watched.reloaded
    assert "polling" in watched.polled_words
    assert "live" not in watched.polled_words
    assert len(set(watched.polled)) >= 3, watched.polled


def test_both_end_with_every_pair_settled(watched: Watched) -> None:
    final = counts(watched.live[-1])
    assert counts(watched.polled[-1]) == final
    assert final == [*[0] * 7, 192, 0], "24 queries, 8 candidates each, all with a label"
