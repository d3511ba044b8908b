"""Logs stay short while something fails again and again, above all for want of room."""

from __future__ import annotations

import errno
import io
import logging
import time
from collections.abc import Callable, Iterator

import pytest

from cosqa_site.http.log_limits import RepeatFilter

Fail = Callable[[str, Exception], str]


@pytest.fixture
def now(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    moment = [1000.0]
    monkeypatch.setattr(time, "monotonic", lambda: moment[0])
    return moment


@pytest.fixture
def fail() -> Iterator[Fail]:
    """Log a fault; gives what the log got of it."""
    said = io.StringIO()
    handler = logging.StreamHandler(said)
    handler.addFilter(RepeatFilter())
    log = logging.getLogger("tests.log_limits")
    log.addHandler(handler)

    def told(words: str, fault: Exception) -> str:
        said.seek(0)
        said.truncate()
        try:
            raise fault
        except Exception:
            log.exception("worker of the %s queue", words)
        return said.getvalue()

    yield told
    log.removeHandler(handler)


def test_a_full_disk_is_one_line_a_minute_whoever_meets_it(now: list[float], fail: Fail) -> None:
    full = OSError(errno.ENOSPC, "No space left on device")
    assert fail("llm", full) == (
        "worker of the llm queue: the disk is full ([Errno 28] No space left on device)\n"
    )
    assert [fail("llm", full), fail("mining", OSError(errno.EDQUOT, "Disk quota exceeded"))] == ["", ""]
    now[0] += 60
    assert fail("llm", full).endswith("(2 more like it in the last minutes)\n")


def test_a_fault_has_its_traceback_once_a_minute_and_another_one_at_once(
    now: list[float], fail: Fail
) -> None:
    assert "Traceback" in fail("llm", KeyError("x"))
    assert fail("llm", KeyError("x")) == ""
    assert "Traceback" in fail("llm", KeyError("y"))
    now[0] += 60
    again = fail("llm", KeyError("x"))
    assert "Traceback" in again
    assert "(1 more like it in the last minutes)" in again


def test_what_is_no_fault_is_always_told() -> None:
    record = logging.LogRecord("x", logging.WARNING, "x.py", 1, "the broker does not answer", None, None)
    repeats = RepeatFilter()
    assert [repeats.filter(record), repeats.filter(record)] == [True, True]
