"""Whose processor time a program costs: the caller's, the program's own, or that of all the rest."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from sandbox.reports.report import Report


def profile_processor_time(work: Callable[[], Report], times: int, callers: int) -> Mapping[str, float]:
    """Milliseconds of a processor for each program: in this process, in the program, and elsewhere.

    Elsewhere are the engine, the kernel and the start of the interpreter; on a machine that does something
    else meanwhile, that too. `busy` is the share of all processors that was used.
    """
    started, machine, own = time.perf_counter(), busy_seconds(), own_seconds()
    with ThreadPoolExecutor(callers) as pool:
        reports = [one.result() for one in [pool.submit(work) for _ in range(times)]]
    seconds, machine, own = time.perf_counter() - started, busy_seconds() - machine, own_seconds() - own
    program = sum(report.cpu_seconds for report in reports)
    parts = {"caller": own, "program": program, "elsewhere": max(machine - own - program, 0.0)}
    shares = {name: round(part / times * 1000, 1) for name, part in parts.items()}
    return {**shares, "busy": round(machine / seconds / (os.cpu_count() or 1), 2)}


def own_seconds() -> float:
    """Processor time of this process, without its children's."""
    used = os.times()
    return used.user + used.system


def busy_seconds() -> float:
    """Processor time of the whole machine that was not idle, since it started."""
    words = Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:]
    user, nice, system, _idle, _waiting, *interrupts = map(int, words)
    # Guests' time, the last two, is part of user and nice.
    return (user + nice + system + sum(interrupts[:3])) / os.sysconf("SC_CLK_TCK")
