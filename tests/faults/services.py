"""Processes that are started, killed and started again: PostgreSQL, Redis, and those of the workbench.

Each service is an instance of its own, in a folder and on a port of its own. All of them end with the process
that started them, however that ends.
"""

from __future__ import annotations

import glob
import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from tests.ports import free_port

ROOT: Final = Path(__file__).resolve().parents[2]
STARTS: Final = 120.0
"""Seconds that a start may take on a machine that does much else."""
LEASH: Final = ["setpriv", "--pdeathsig", "KILL", "--"]


class Missing(Exception):
    """A program that is needed is not installed."""


def wait_for(ready: Callable[[], bool], what: str, seconds: float = STARTS) -> None:
    """Look again and again until `ready`. Raises TimeoutError."""
    ends = time.monotonic() + seconds
    while not ready():
        if time.monotonic() > ends:
            raise TimeoutError(f"waited {seconds:.0f} s in vain for {what}")
        time.sleep(0.05)


def listens(port: int) -> bool:
    with closing(socket.socket()) as link:
        link.settimeout(5)
        return link.connect_ex(("127.0.0.1", port)) == 0


@dataclass
class Process:
    """A command that can be killed and started again; what it says goes to the end of `log`."""

    name: str
    command: Sequence[str]
    log: Path
    environment: Mapping[str, str] = field(default_factory=lambda: dict(os.environ))
    user: str | None = None
    running: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        with self.log.open("ab") as output:
            self.running = subprocess.Popen(
                [*LEASH, *self.command],
                cwd=ROOT,
                env=dict(self.environment),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                user=self.user,
                extra_groups=[] if self.user else None,
                start_new_session=True,
            )

    @property
    def pid(self) -> int:
        return self.running.pid if self.running else 0

    @property
    def has_ended(self) -> bool:
        """Whether it was started and ended by itself."""
        return self.running is not None and self.running.poll() is not None

    def kill(self) -> None:
        """SIGKILL, and wait until it is gone."""
        if self.running:
            self.running.kill()
            self.running.wait()

    def ready(self) -> None:
        """Wait until it does its work; nothing to wait for here."""


@dataclass
class Listening(Process):
    """A process that is ready when it listens on `port`."""

    port: int = 0

    def ready(self) -> None:
        wait_for(lambda: listens(self.port), f"{self.name} on port {self.port}")


@dataclass
class Postgres(Listening):
    """A server whose backends are killed with it, so that it can start again at once."""

    def kill(self) -> None:
        started = children(self.pid)
        super().kill()
        for pid in started:
            signal_kill(pid)
        wait_for(lambda: not any(Path(f"/proc/{pid}").exists() for pid in started), "the backends' end", 30)

    def ready(self) -> None:
        import psycopg

        def answers() -> bool:
            try:
                psycopg.connect(self.url("postgres"), connect_timeout=5).close()
            except psycopg.OperationalError:
                return False
            return True

        wait_for(answers, "PostgreSQL")

    def url(self, database: str) -> str:
        return f"postgres://postgres@127.0.0.1:{self.port}/{database}"


def signal_kill(pid: int) -> None:
    try:
        os.kill(pid, 9)
    except ProcessLookupError:
        return  # it ended with its parent


def children(parent: int) -> list[int]:
    """The processes that `parent` has started."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rpartition(")")[2].split()
        except OSError:
            continue  # it has ended meanwhile
        if int(fields[1]) == parent:
            found.append(int(path.parent.name))
    return found


def binaries() -> Path:
    """Where initdb and postgres lie: Debian keeps them out of the path. Raises Missing."""
    found = sorted(glob.glob("/usr/lib/postgresql/*/bin/initdb")) or [shutil.which("initdb") or ""]
    if not found[-1]:
        raise Missing("initdb is not installed: apt-get install postgresql")
    return Path(found[-1]).parent


def postgres(folder: Path) -> Postgres:
    """A new cluster under `folder`, not started. What is committed survives a kill, not a power cut."""
    user = "postgres" if os.geteuid() == 0 else None
    data, bins, port = folder / "postgres", binaries(), free_port()
    data.mkdir()
    if user:
        shutil.chown(data, user)
    initdb = [
        str(bins / "initdb"),
        "-D",
        str(data),
        "-U",
        "postgres",
        "-A",
        "trust",
        "--no-sync",
        "-E",
        "UTF8",
    ]
    subprocess.run(initdb, check=True, capture_output=True, user=user, cwd="/")
    switches = {"port": port, "unix_socket_directories": data, "fsync": "off", "log_lock_waits": "on"}
    options = [word for name, value in switches.items() for word in ("-c", f"{name}={value}")]
    command = [str(bins / "postgres"), "-D", str(data), "-c", "listen_addresses=127.0.0.1", *options]
    return Postgres("postgres", command, folder / "postgres.log", user=user, port=port)


def redis(folder: Path) -> Listening:
    """A server without a memory, not started: each kill loses all messages. Raises Missing."""
    if shutil.which("redis-server") is None:
        raise Missing("redis-server is not installed: apt-get install redis-server")
    port = free_port()
    command = ["redis-server", "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--dir", str(folder)]
    return Listening("redis", command, folder / "redis.log", port=port)


def python(name: str, folder: Path, environment: Mapping[str, str], *command: str) -> Process:
    return Process(name, [sys.executable, "-u", *command], folder / f"{name}.log", environment)
