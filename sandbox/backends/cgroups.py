"""A control group for each run, where one may be made: the kernel then holds the memory limit."""

import contextlib
import itertools
import os
import signal
import time
from dataclasses import dataclass
from pathlib import Path

from sandbox.backends import owner
from sandbox.harness.memory import oom_kills

_ROOT = Path("/sys/fs/cgroup")
_PREFIX = "cosqa-sandbox"
_numbers = itertools.count()


@dataclass(frozen=True, slots=True)
class MemoryGroup:
    """One run's group. The limit is on everything in it: pages, tmpfs, kernel memory of files and sockets."""

    folder: Path

    @classmethod
    def make(cls, parent: Path, megabytes: int) -> "MemoryGroup":
        """A group below `parent` with a hard limit, swap included; OSError where that is not permitted."""
        folder = parent / f"{_PREFIX}-{owner.identify_own_process()}-{next(_numbers)}"
        folder.mkdir()
        limit = str(megabytes * 2**20)
        first, *others = ("memory.max", "memory.swap.max") if _is_unified(parent) else _V1_FILES
        try:
            (folder / first).write_text(limit)
            for name in others:
                if (folder / name).exists():
                    (folder / name).write_text("0" if name == "memory.swap.max" else limit)
        except OSError:
            folder.rmdir()
            raise
        return cls(folder)

    def add(self, pid: int) -> None:
        """Move a process here; what it starts from now on is here too."""
        (self.folder / "cgroup.procs").write_text(str(pid))

    def kills(self) -> tuple[int, bool]:
        """How often the kernel killed here for memory, and whether because the group's limit was reached.

        Otherwise it was the machine that had no memory left.
        """
        return oom_kills(str(self.folder)) or (0, False)

    def remove(self) -> bool:
        """Remove the empty group; False while a process is still in it."""
        try:
            self.folder.rmdir()
        except OSError:
            return False
        return True

    def remove_soon(self) -> None:
        """Kill what is left in the group and remove it; what resists for long is the reaper's."""
        for _ in range(500):
            if self.remove():
                return
            for pid in (self.folder / "cgroup.procs").read_text().split():
                with contextlib.suppress(ProcessLookupError):
                    os.kill(int(pid), signal.SIGKILL)
            time.sleep(0.001)


_V1_FILES = ("memory.limit_in_bytes", "memory.memsw.limit_in_bytes")


def memory_parent() -> Path | None:
    """The folder below which this process may make memory groups, or None."""
    for parent in _own_groups():
        try:
            MemoryGroup.make(parent, 64).remove()
        except OSError:
            continue
        return parent
    return None


def reap_orphan_cgroups(parent: Path) -> int:
    """End and remove the groups of callers that no longer live; the number removed."""
    groups = [
        MemoryGroup(folder)
        for folder in parent.glob(f"{_PREFIX}-*")
        if owner.is_dead(folder.name.removeprefix(f"{_PREFIX}-").rpartition("-")[0])
    ]
    for group in groups:
        group.remove_soon()
    return sum(not group.folder.exists() for group in groups)


def _own_groups() -> list[Path]:
    found = []
    for line in Path("/proc/self/cgroup").read_text().splitlines():
        _, controllers, path = line.split(":", 2)
        if "memory" in controllers.split(","):
            found.append(_ROOT / "memory" / path.lstrip("/"))
        elif not controllers:
            found.append(_ROOT / path.lstrip("/"))
    return found


def _is_unified(folder: Path) -> bool:
    return (folder / "cgroup.controllers").exists()
