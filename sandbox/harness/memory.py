"""What takes memory inside the sandbox, and whether the kernel killed for it."""

from __future__ import annotations

import os

# What is left below the limit when the kernel asks for more in one go.
_CHARGED_AT_ONCE = 4 << 20
_OWN_GROUP = ("/sys/fs/cgroup", "/sys/fs/cgroup/memory")
_V1_USAGE = ("max_usage_in_bytes", "limit_in_bytes")


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


def oom_kills(*folders: str) -> tuple[int, bool] | None:
    """How often the kernel killed for memory in a control group, and whether its own limit was reached.

    Otherwise it was the machine that had no memory. The first of `folders` that has a group's files is read;
    by default it is where a container sees its own. None where the kernel does not say.
    """
    for folder in folders or _OWN_GROUP:
        events = _counts(f"{folder}/memory.events")
        if "oom_kill" in events:
            return events["oom_kill"], events.get("oom", 0) > 0
        found = _counts(f"{folder}/memory.oom_control")
        if "oom_kill" in found:
            most, limit = (_number(f"{folder}/memory.{name}") for name in _V1_USAGE)
            return found["oom_kill"], most >= limit - _CHARGED_AT_ONCE
    return None


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
