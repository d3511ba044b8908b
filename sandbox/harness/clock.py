"""How much of its time a program has had: waiting for a processor is not its own time."""

from __future__ import annotations

import os
import resource
import time

_NANOSECONDS = 1e9


class Clock:
    """The time of a run, from now on: `seconds` of the program's own, `longest` on the wall."""

    def __init__(self, seconds: float, longest: float) -> None:
        self._seconds, self._longest = seconds, longest
        self._started = time.monotonic()
        self._waits: dict[str, float] = {}

    def elapsed(self) -> float:
        """Seconds on the wall."""
        return time.monotonic() - self._started

    def look(self, program: int) -> None:
        """Remember how long a process and its children have waited: cases come one after another and go."""
        own = str(os.getpid())
        for process in os.listdir("/proc"):
            if process.isdigit() and process != own and program in (int(process), _parent(process)):
                self._waits[process] = max((waited for _, waited in _threads(process)), default=0.0)

    def verdict(self) -> str:
        """Empty while there is time; "deadline" when the program had it all, "busy" when others had it."""
        elapsed = self.elapsed()
        if elapsed < self._seconds:
            return ""
        used, waited = _processor_times()
        waited = max(waited, sum(self._waits.values()))
        if used >= self._seconds or elapsed - waited >= self._seconds:
            return "deadline"
        return "busy" if elapsed >= self._longest else ""


def reaped_seconds() -> float:
    """Processor time of all processes that were waited for."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _processor_times() -> tuple[float, float]:
    """Seconds that the program's processes used together, and that one thread of them waited at most."""
    own = str(os.getpid())
    processes = [name for name in os.listdir("/proc") if name.isdigit() and name != own]
    times = [found for process in processes for found in _threads(process)]
    used = reaped_seconds() + sum(used for used, _ in times)
    return used, max((waited for _, waited in times), default=0.0)


def _parent(process: str) -> int:
    try:
        with open(f"/proc/{process}/stat", "rb") as file:
            return int(file.read().rpartition(b")")[2].split()[1])
    except (OSError, LookupError, ValueError):
        return 0  # it has ended


def _threads(process: str) -> list[tuple[float, float]]:
    found = []
    try:
        for thread in os.listdir(f"/proc/{process}/task"):
            with open(f"/proc/{process}/task/{thread}/schedstat") as file:
                used, waited, _ = map(int, file.read().split())
            found.append((used / _NANOSECONDS, waited / _NANOSECONDS))
    except (OSError, ValueError):
        return found  # it has ended, or this kernel keeps no such record: then all of the time is its own
    return found
