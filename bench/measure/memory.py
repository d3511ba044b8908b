"""How much memory this process needs at its largest, beyond what it maps from files."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Self

STATUS = Path("/proc/self/status")
SECONDS_BETWEEN_LOOKS = 0.01


class PeakMemory:
    """Looks at the process a hundred times a second while the block runs; `peak_mb` is in MiB."""

    def __init__(self) -> None:
        self.peak_mb = own_mb()
        self.done = threading.Event()
        self.thread = threading.Thread(target=self.look)

    def __enter__(self) -> Self:
        self.thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self.done.set()
        self.thread.join()

    def look(self) -> None:
        while not self.done.wait(SECONDS_BETWEEN_LOOKS):
            self.peak_mb = max(self.peak_mb, own_mb())


def own_mb() -> int:
    """MiB in memory that are no file's pages."""
    lines = dict(line.split(":", 1) for line in STATUS.read_text().splitlines())
    return sum(int(lines[name].split()[0]) for name in ("RssAnon", "RssShmem")) // 1024
