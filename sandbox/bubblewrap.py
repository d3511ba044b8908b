"""The one-machine backend: namespaces by bubblewrap, no daemon, never as root."""

import contextlib
import json
import os
import select
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from importlib.metadata import version
from pathlib import Path

from sandbox import cgroups, processes
from sandbox.calling import Answer, Call
from sandbox.cgroups import MemoryGroup
from sandbox.checks import Check, bubblewrap_checks
from sandbox.confinement import Confinement
from sandbox.dependencies import Requirement, requirements
from sandbox.execution import (
    GRACE_SECONDS,
    STARVED,
    HarnessLost,
    NotStarted,
    Packages,
    Reply,
    Runner,
    longest,
    read_reply,
)
from sandbox.installing import INSTALL_SECONDS, PipSettings, arguments, failure, pinned
from sandbox.interpreter import copy_pip, harness_hash, interpreter, write_harness
from sandbox.layers import Layers, NoRoom, key, reachable_home
from sandbox.processes import mark, started
from sandbox.program import Limits, Program
from sandbox.protections import ALL, Protection
from sandbox.protocol import SandboxUnavailable
from sandbox.queueing import Queue
from sandbox.report import Outcome, Report
from sandbox.seccomp import bpf

__all__ = ["BubblewrapSandbox"]

# Beside the program's memory there is the harness's own, and what the kernel keeps for both.
_GROUP_MARGIN_MB = 64
_PROBE = Program(candidate="def probe():\n    return 2\n", source="assert probe() == 2\n", trace=False)


class BubblewrapSandbox:
    """Programs in a bubblewrap of their own. Raises SandboxUnavailable when that does not work here.

    Called by root it drops to `uid` first: as root the kernel ignores the limit on processes.
    """

    name = "bubblewrap"

    def __init__(
        self,
        home: Path,
        concurrency: int,
        uid: int,
        pip: PipSettings,
        protections: frozenset[Protection] = ALL,
    ) -> None:
        bwrap = shutil.which("bwrap")
        if bwrap is None:
            raise SandboxUnavailable("bubblewrap is not installed: apt-get install bubblewrap")
        self._uid, self._pip = (uid if os.geteuid() == 0 else None), pip
        try:
            self._layers = Layers(reachable_home(home, uid) / "layers", pip.layers_mb)
        except OSError as error:
            raise SandboxUnavailable(f"{home} cannot hold the sandbox's packages: {error}") from error
        self._python, self._filter = interpreter(), bpf()
        self._base_key = key("base", self._python.build, *map(str, pinned()))
        self.image = f"bubblewrap:{key(self._base_key, harness_hash(), self._filter.hex())}"
        self._confinement = Confinement(bwrap, self._python, self._harness(), protections)
        self._group_parent = cgroups.memory_parent()
        self._closed = threading.Event()
        self._queue = Queue(concurrency)
        self._runner = Runner(self.name, self._queue, True, self._packages, self._exchange)
        if protections == ALL:
            self._probe()
        self.reap()

    def run(self, program: Program, limits: Limits) -> Report:
        """See Sandbox.run."""
        return self._runner.run(program, limits)

    def call(self, call: Call, limits: Limits) -> Answer:
        """See Sandbox.call."""
        return self._runner.call(call, limits)

    def install(self, requirements: tuple[str, ...]) -> None:
        """See Sandbox.install; without requirements it prepares the base packages."""
        self._base()
        if requirements:
            self._layer(requirements)

    def check(self) -> tuple[Check, ...]:
        """See Sandbox.check."""
        return bubblewrap_checks(self.run, self._confinement.bwrap, self._group_parent)

    def reap(self) -> int:
        """Remove the processes, control groups and unfinished layers of callers that no longer live."""
        ended = processes.reap() + (cgroups.reap(self._group_parent) if self._group_parent else 0)
        return ended + self._layers.reap()

    def close(self) -> None:
        """Refuse further runs; those under way end by themselves, within their time."""
        self._closed.set()

    def _probe(self) -> None:
        bare = Runner(self.name, self._queue, True, lambda program: Packages(), self._exchange)
        seen = bare.run(_PROBE, Limits())
        if seen.outcome is not Outcome.PASSED:
            raise SandboxUnavailable(
                f"bubblewrap does not work here ({seen.stderr or seen.detail or seen.outcome}):"
                " it needs unprivileged user namespaces (sysctl user.max_user_namespaces,"
                " kernel.unprivileged_userns_clone, kernel.apparmor_restrict_unprivileged_userns)"
            )

    def _packages(self, program: Program) -> Packages:
        try:
            self._harness()
            folders: dict[str, Path | None] = {"/packages": self._base()}
            if program.dependencies:
                layer = self._layer(program.dependencies)
                folders[f"/layers/{layer.name}"] = layer
        except (NoRoom, OSError) as error:
            raise SandboxUnavailable(f"packages cannot be kept: {error}") from error
        return Packages(folders)

    def _harness(self) -> Path:
        return self._layers.ensure(key(self.image, "harness"), self._make_harness)

    def _make_harness(self, folder: Path) -> None:
        write_harness(folder, self._python.executable)
        (folder / "seccomp.bpf").write_bytes(self._filter)

    def _base(self) -> Path:
        return self._layers.ensure(
            self._base_key, lambda folder: self._install(folder, pinned(), resolve=False)
        )

    def _layer(self, texts: tuple[str, ...]) -> Path:
        wanted = requirements(texts)
        name = key(self._base_key, self._pip.sources(), *map(str, wanted))
        return self._layers.ensure(name, lambda folder: self._install(folder, wanted, resolve=True))

    def _install(self, folder: Path, wanted: tuple[Requirement, ...], resolve: bool) -> None:
        installer = self._layers.ensure(
            key("installer", *map(str, pinned("installer.txt"))), self._make_installer
        )
        self._pip_install(installer, folder, wanted, resolve)

    def _make_installer(self, folder: Path) -> None:
        # The caller's pip fetches the pinned one, which knows --uploaded-prior-to.
        first = self._layers.ensure(key("bootstrap", version("pip"), sys.version), copy_pip)
        self._pip_install(first, folder, pinned("installer.txt"), resolve=False)

    def _pip_install(
        self, installer: Path, folder: Path, wanted: tuple[Requirement, ...], resolve: bool
    ) -> None:
        asked = self._pip.dated() if resolve else self._pip
        pip = arguments(wanted, "/target", asked, resolve)
        if self._uid is not None:
            os.chown(folder, self._uid, self._uid)
        rules = os.open(self._confinement.harness / "seccomp.bpf", os.O_RDONLY)
        settings = asked.environment, asked.files
        command = self._confinement.install(pip, installer, folder, *settings, rules)
        with started(command, (rules,), self._uid) as process:
            os.close(rules)
            try:
                output = process.communicate(timeout=INSTALL_SECONDS)[1].decode(errors="replace")
            except subprocess.TimeoutExpired as error:
                raise SandboxUnavailable(f"pip did not end within {INSTALL_SECONDS} s") from error
        if process.returncode:
            raise failure(wanted, output, self._pip)

    def _exchange(self, message: bytes, limits: Limits, packages: Packages, fresh: bool) -> Reply:
        if self._closed.is_set():
            raise SandboxUnavailable("this sandbox was closed")
        folders = {inside: outside for inside, outside in packages.folders.items() if outside is not None}
        program_filter = os.open(self._confinement.harness / "seccomp.bpf", os.O_RDONLY)
        info, info_sink = os.pipe()
        try:
            command = [*self._confinement.run(limits, folders, program_filter, info_sink), mark()]
            # It gets both ends: without a reader it would die of telling, and leave a half that waits for it.
            with started(command, (program_filter, info, info_sink), self._uid) as process:
                os.close(info_sink)
                info_sink = -1
                with self._memory_group(_first_pid(info, process), limits) as group:
                    return _asked(process, message, longest(limits) + GRACE_SECONDS, group)
        except OSError as error:
            raise NotStarted(f"the sandbox could not be started: {error}") from error
        finally:
            for descriptor in (program_filter, info, info_sink):
                if descriptor >= 0:
                    os.close(descriptor)

    @contextlib.contextmanager
    def _memory_group(self, pid: int, limits: Limits) -> Iterator[MemoryGroup | None]:
        """The run's control group, with the harness in it before it is told what to run."""
        if self._group_parent is None:
            yield None
            return
        group = MemoryGroup.make(self._group_parent, limits.memory_mb + _GROUP_MARGIN_MB)
        try:
            group.add(pid)
            yield group
        finally:
            group.remove_soon()


def _first_pid(info: int, process: subprocess.Popen[bytes]) -> int:
    """The sandbox's process 1 as this machine numbers it; raises NotStarted when bubblewrap tells of none."""
    told, read = b"", _reader(info, time.monotonic() + GRACE_SECONDS)
    try:
        while not told.rstrip().endswith(b"}"):
            part = read(4096)
            if not part:
                raise NotStarted(f"bubblewrap could not set up: {_last_words(process)}")
            told += part
    except HarnessLost as error:
        raise NotStarted("bubblewrap did not set up in time") from error
    return int(json.loads(told)["child-pid"])


def _asked(
    process: subprocess.Popen[bytes], message: bytes, seconds: float, group: MemoryGroup | None
) -> Reply:
    """Send the request and read the reply; standard input stays open: its end says that the caller died."""
    try:
        data = _converse(process, message, time.monotonic() + seconds)
    except HarnessLost:
        _judgeable(group)
        if group and (kills := group.oom_kills()):
            return Reply(b"", kills)
        raise
    _judgeable(group)
    return Reply(data, group.oom_kills() if group else None)


def _judgeable(group: MemoryGroup | None) -> None:
    """Raises SandboxUnavailable when the kernel killed in there for others' sake."""
    if group and group.starved():
        raise SandboxUnavailable(STARVED)


def _converse(process: subprocess.Popen[bytes], message: bytes, deadline: float) -> bytes:
    assert process.stdin is not None and process.stdout is not None
    try:
        _send(process.stdin.fileno(), len(message).to_bytes(4, "big") + message, deadline)
        return read_reply(_reader(process.stdout.fileno(), deadline))
    except (BrokenPipeError, HarnessLost) as error:
        raise HarnessLost(_last_words(process) or str(error)) from error


def _last_words(process: subprocess.Popen[bytes]) -> str:
    assert process.stderr is not None
    os.killpg(process.pid, signal.SIGKILL)
    return process.stderr.read(4096).decode(errors="replace").strip()


def _send(descriptor: int, data: bytes, deadline: float) -> None:
    os.set_blocking(descriptor, False)
    poll = select.poll()
    poll.register(descriptor, select.POLLOUT)
    while data:
        if not poll.poll(max(deadline - time.monotonic(), 0) * 1000):
            raise HarnessLost("the harness did not read its request in time")
        data = data[os.write(descriptor, data) :]


def _reader(descriptor: int, deadline: float) -> Callable[[int], bytes]:
    poll = select.poll()
    poll.register(descriptor, select.POLLIN)

    def read(at_most: int) -> bytes:
        if not poll.poll(max(deadline - time.monotonic(), 0) * 1000):
            raise HarnessLost("the harness did not answer in time")
        return os.read(descriptor, min(at_most, 1 << 16))

    return read
