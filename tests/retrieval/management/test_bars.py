"""Progress in a file or log: lines, and none for what is over at once."""

from __future__ import annotations

import threading

import pytest

from retrieval.management import bars


def test_what_is_over_at_once_says_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    with bars.open_bar(desc="reading", unit=" texts", total=3) as bar:
        bar.set_description("reading on")
        bar.update(3)
    assert capsys.readouterr().err == ""


def test_what_takes_longer_says_how_far_it_is_a_line_each_time(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bars, "SECONDS_UNTIL_SHOWN", 0)
    monkeypatch.setattr(bars, "SECONDS_BETWEEN_LINES", 0)
    threads = threading.active_count()
    with bars.open_bar(desc="reading", unit=" texts", total=3) as bar:
        for _ in range(3):
            bar.update(1)
    lines = capsys.readouterr().err.splitlines()
    assert lines and all(line.startswith("reading: ") for line in lines) and "3/3" in lines[-1]
    assert threading.active_count() == threads, "no thread beside, as commands start processes"
