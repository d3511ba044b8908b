"""What takes memory inside the sandbox, and whether the kernel killed for it."""

from __future__ import annotations

import os

# What is left below the limit when the kernel asks for more in one go.
_CHARGED_AT_ONCE = 4 << 20


def resident(process: str) -> int:
    """Resident pages of a process, 0 once it has ended."""
    try:
        with open(f"/proc/{process}/statm", "rb") as file:
            return int(file.read().split()[1])
    except (OSError, IndexError):
        return 0  # it has ended


def proportional(process: str) -> int:
    """Bytes of a process, those that it shares divided by how many share them."""
    try:
        with open(f"/proc/{process}/smaps_rollup", "rb") as file:
            for line in file:
                if line.startswith(b"Pss:"):
                    return int(line.split()[1]) * 1024
    except PermissionError:
        return resident(process) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return 0  # it has ended
    return 0


def occupied(folder: str) -> int:
    """Bytes of memory that the files of a tmpfs take."""
    try:
        found = os.statvfs(folder)
    except OSError:
        return 0
    # An empty file takes about a kilobyte of the kernel's memory.
    return (found.f_blocks - found.f_bfree) * found.f_frsize + (found.f_files - found.f_ffree) * 1024


def oom_kills(root: str = "/sys/fs/cgroup") -> tuple[int, bool] | None:
    """How often the kernel killed for memory in this control group, and whether its own limit was reached.

    Otherwise it was the machine that had no memory. None where the kernel does not say.
    """
    events = _counts(f"{root}/memory.events")
    if "oom_kill" in events:
        return events["oom_kill"], events.get("oom", 0) > 0
    found = _counts(f"{root}/memory/memory.oom_control")
    if "oom_kill" not in found:
        return None
    most, limit = (
        _number(f"{root}/memory/memory.{name}") for name in ("max_usage_in_bytes", "limit_in_bytes")
    )
    return found["oom_kill"], most >= limit - _CHARGED_AT_ONCE


def _counts(path: str) -> dict[str, int]:
    try:
        with open(path) as file:
            return {name: int(count) for name, count in map(str.split, file)}
    except (OSError, ValueError):
        return {}


def _number(path: str) -> int:
    try:
        with open(path) as file:
            return int(file.read())
    except (OSError, ValueError):
        return 0
