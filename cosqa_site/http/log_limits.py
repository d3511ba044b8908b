"""What keeps logs short: a fault that comes again is told once a minute, and a full disk in one line."""

from __future__ import annotations

import logging
import time
from typing import Final

from retrieval.disk_space import is_full_disk

SECONDS_BETWEEN_REPEATS: Final = 60.0
MAX_FAULTS: Final = 1000
"""So many different faults are known at once; then the count begins anew."""


class RepeatFilter(logging.Filter):
    """Drops a fault that the log has had within a minute, and says at the next one how many were dropped."""

    def __init__(self) -> None:
        super().__init__()
        self._told: dict[tuple[str, str], tuple[float, int]] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether the record is told. Records without an exception always are."""
        fault = record.exc_info[1] if record.exc_info else None
        if fault is None:
            return True
        no_room = is_full_disk(fault)
        key = ("", "no room") if no_room else (record.name, f"{record.msg}{type(fault).__name__}{fault}")
        now = time.monotonic()
        told_at, dropped = self._told.get(key, (-SECONDS_BETWEEN_REPEATS, 0))
        if now - told_at < SECONDS_BETWEEN_REPEATS:
            self._told[key] = told_at, dropped + 1
            return False
        if len(self._told) >= MAX_FAULTS:
            self._told.clear()
        self._told[key] = now, 0
        shorten_record(record, fault if no_room else None, dropped)
        return True


def shorten_record(record: logging.LogRecord, no_room: BaseException | None, dropped: int) -> None:
    """Say the exception of a full disk in the line itself, and how many lines like it were dropped."""
    words = record.getMessage()
    if no_room is not None:
        words = f"{words}: the disk is full ({' '.join(str(no_room).split())[:200]})"
        record.exc_info = record.exc_text = None
    if dropped:
        words = f"{words} ({dropped:,} more like it in the last minutes)"
    record.msg, record.args = words, None
