"""Progress of a command: a bar on a terminal, a line now and then in a file."""

from __future__ import annotations

import io
import sys
from typing import Any, Final

from tqdm import tqdm

SECONDS_BETWEEN_LINES: Final = 10.0
SECONDS_UNTIL_SHOWN: Final = 2.0
"""What is over before says nothing."""


class LineWriter(io.TextIOBase):
    """Standard error for a bar that is no terminal's: each state is a line of its own."""

    def write(self, text: str) -> int:
        if text.strip():
            sys.stderr.write(f"{text.strip()}\n")
            sys.stderr.flush()
        return len(text)


class LineBar(tqdm):  # type: ignore[type-arg] # it is generic in the stubs alone
    """A bar without a thread beside: commands that show one start processes."""

    monitor_interval = 0


class LogBar(LineBar):
    """One whose description changes without a line of its own."""

    def set_description(self, desc: str | None = None, refresh: bool | None = True) -> None:
        super().set_description(desc, refresh=False)


def open_bar(**options: Any) -> LineBar:
    """A progress bar on standard error; `options` are tqdm's."""
    if sys.stderr.isatty():
        return LineBar(**options)
    return LogBar(
        file=LineWriter(),
        delay=SECONDS_UNTIL_SHOWN,
        mininterval=SECONDS_BETWEEN_LINES,
        maxinterval=SECONDS_BETWEEN_LINES,
        **options,
    )
