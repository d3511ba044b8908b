"""Throw-away environments, the processes that run in them, and what those use."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from bench.rivals.tool import CannotRun, Sample

PASSED_ON: Final = ("PATH", "LANG", "LC_ALL")
INSTALL_SECONDS: Final = 900
STOP_SECONDS: Final = 15.0
TICKS: Final = os.sysconf("SC_CLK_TCK")
Process = subprocess.Popen[bytes]


@dataclass(frozen=True)
class Environment:
    """A virtual environment with one tool; `home` is all that the tool's processes see of a home.

    `venv` is in the same folder, unless it is to be kept for another run.
    """

    folder: Path
    venv: Path

    @property
    def home(self) -> Path:
        return self.folder / "home"

    @property
    def log(self) -> Path:
        return self.folder / "log.txt"

    def program(self, name: str) -> str:
        return str(self.venv / "bin" / name)

    def packages(self) -> Path:
        return next((self.venv / "lib").glob("python*/site-packages"))

    def install(self, requirements: Sequence[str]) -> None:
        """Into an environment of its own, unless it is there. Raises CannotRun."""
        self.home.mkdir(parents=True, exist_ok=True)
        ready = self.venv / "installed"
        if ready.exists():
            return
        # pip needs its own configuration, which may be in the home of whoever runs this.
        self.run([sys.executable, "-m", "venv", str(self.venv)], os.environ)
        pip = [self.program("python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        self.run([*pip, *requirements], os.environ)
        ready.touch()

    def variables(self, more: Mapping[str, str]) -> dict[str, str]:
        """Nothing of this process's own settings; the home is thrown away with the rest."""
        kept = {name: os.environ[name] for name in PASSED_ON if name in os.environ}
        return {**kept, "HOME": str(self.home), "TMPDIR": str(self.home), "PYTHONUNBUFFERED": "1", **more}

    def run(self, command: Sequence[str], more: Mapping[str, str]) -> Sample:
        """Until it ends; gives what it used. Raises CannotRun with the last lines of what it said."""
        began, before = time.perf_counter(), of_children()
        with self.log.open("ab") as log:
            try:
                ended = subprocess.run(
                    command,
                    cwd=self.home,
                    env=self.variables(more),
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                    timeout=INSTALL_SECONDS,
                    check=False,
                )
            except (OSError, subprocess.TimeoutExpired) as why:
                raise CannotRun(str(why)) from why
        if ended.returncode:
            raise CannotRun(f"{Path(command[0]).name} ended with {ended.returncode}: {self.last_words()}")
        return Sample(time.perf_counter() - began, of_children() - before)

    def begin(self, command: Sequence[str], more: Mapping[str, str]) -> Process:
        """A process in a group of its own, which `end` ends."""
        with self.log.open("ab") as log:
            return subprocess.Popen(
                command,
                cwd=self.home,
                env=self.variables(more),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def last_words(self) -> str:
        lines = self.log.read_text(errors="replace").strip().splitlines() if self.log.exists() else []
        return lines[-1][:300] if lines else "it said nothing"


def end(processes: Iterable[Process]) -> None:
    """Each with its whole group."""
    for process in processes:
        signal_group(process, signal.SIGTERM)
    for process in processes:
        with suppress(subprocess.TimeoutExpired):
            process.wait(STOP_SECONDS)
        signal_group(process, signal.SIGKILL)
        process.wait()


def signal_group(process: Process, number: int) -> None:
    with suppress(ProcessLookupError):
        os.killpg(process.pid, number)


def of_children() -> float:
    """Processor seconds of this process's children that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def used_by(roots: Iterable[int]) -> float:
    """Processor seconds of these processes and all that came of them, ended ones too."""
    return sum(clock_of(process) + ended_of(process) for process in family(roots))


def clock_of(process: int) -> float:
    """To the nanosecond, of all its threads; 0 where it is gone."""
    try:
        # clock_getcpuclockid(3), which Python does not have: the process's own clock.
        return time.clock_gettime((~process << 3) | 2)
    except OSError:
        return 0.0


def ended_of(process: int) -> float:
    """Of its children that it has waited for."""
    words = stat_of(process)
    return (int(words[13]) + int(words[14])) / TICKS if words else 0.0


def family(roots: Iterable[int]) -> list[int]:
    """The processes with their descendants."""
    children: dict[int, list[int]] = {}
    for process in numbered():
        words = stat_of(process)
        if words:
            children.setdefault(int(words[1]), []).append(process)
    found = list(roots)
    for process in found:
        found += children.get(process, [])
    return found


def numbered() -> Iterator[int]:
    return (int(path.name) for path in Path("/proc").iterdir() if path.name.isdecimal())


def stat_of(process: int) -> list[str]:
    """The words of its stat from the state on: 1 is its parent; empty where it is gone."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return []


def memory_of(roots: Iterable[int]) -> float:
    """MiB; what processes share is divided among them."""
    return sum(map(read_proportional_memory, family(roots))) / 1024


def read_proportional_memory(process: int) -> int:
    """KiB."""
    try:
        lines = Path(f"/proc/{process}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0
    return sum(int(line.split()[1]) for line in lines if line.startswith("Pss:"))
