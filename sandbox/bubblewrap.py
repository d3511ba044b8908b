"""The one-machine backend: namespaces by bubblewrap, no daemon, never as root."""

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from sandbox import cgroups, processes
from sandbox.calling import Answer, Call
from sandbox.cgroups import MemoryGroup
from sandbox.checks import Check, bubblewrap_checks
from sandbox.confinement import RULES, Confinement
from sandbox.dependencies import Requirement, requirements
from sandbox.execution import (
    GRACE_SECONDS,
    NotStarted,
    Packages,
    Reply,
    Runner,
    longest,
)
from sandbox.installing import INSTALL_SECONDS, PipSettings, arguments, failure, pinned
from sandbox.interpreter import copy_pip, harness_hash, interpreter, write_harness, write_programs
from sandbox.layers import Layers, NoRoom, key, reachable_home
from sandbox.piped import Piped, set_up
from sandbox.pool import Pool
from sandbox.processes import as_user, started
from sandbox.program import Limits, Program
from sandbox.protections import ALL, Protection
from sandbox.protocol import SandboxUnavailable
from sandbox.queueing import Queue
from sandbox.report import Outcome, Report
from sandbox.seccomp import bpf

__all__ = ["BubblewrapSandbox"]

# Beside the program's memory there is the harness's own, and what the kernel keeps for both.
_GROUP_MARGIN_MB = 64
_USUAL_FOLDERS = ("/packages",)
_PROBE = Program(candidate="def probe():\n    return 2\n", source="assert probe() == 2\n", trace=False)


@dataclass(frozen=True, slots=True)
class Shape:
    """What is fixed when a bubblewrap is set up: memory, and the folders that it sees, as they are now."""

    memory_mb: int
    tmp_mb: int
    folders: tuple[tuple[str, Path], ...]
    editions: tuple[int, ...]

    @classmethod
    def of(cls, limits: Limits, packages: Packages) -> "Shape":
        """For a run under these limits; raises NotStarted where a folder is gone."""
        folders = tuple((inside, outside) for inside, outside in packages.folders.items() if outside)
        try:
            editions = tuple(outside.stat().st_ctime_ns for _, outside in folders)
        except OSError as error:
            raise NotStarted(f"its packages are gone: {error}") from error
        return cls(limits.memory_mb, limits.tmp_mb, folders, editions)

    def is_usual(self) -> bool:
        """Whether the next program will need the same: dependencies are each program's own."""
        return tuple(inside for inside, _ in self.folders) == _USUAL_FOLDERS


class BubblewrapSandbox:
    """Programs in a bubblewrap of their own. Raises SandboxUnavailable when that does not work here.

    Called by root it drops to `uid` first: as root the kernel ignores the limit on processes. `pool` of them
    are set up ahead and wait, ready for limits like those of the last run.
    """

    name = "bubblewrap"

    def __init__(
        self,
        home: Path,
        concurrency: int,
        pool: int,
        uid: int,
        pip: PipSettings,
        protections: frozenset[Protection] = ALL,
    ) -> None:
        bwrap = shutil.which("bwrap")
        if bwrap is None:
            raise SandboxUnavailable("bubblewrap is not installed: apt-get install bubblewrap")
        self._uid, self._pip = (uid if os.geteuid() == 0 else None), pip
        self._as_user = () if self._uid is None else as_user(uid)
        try:
            self._layers = Layers(reachable_home(home, uid) / "layers", pip.layers_mb)
        except OSError as error:
            raise SandboxUnavailable(f"{home} cannot hold the sandbox's packages: {error}") from error
        self._python, self._filter = interpreter(), bpf()
        self._base_key = key("base", self._python.build, *map(str, pinned()))
        self.image = f"bubblewrap:{key(self._base_key, harness_hash(), self._filter.hex())}"
        # Asked once: a tool that is updated meanwhile must not rename the folder that is in use.
        self._harness_key = key(self.image, self._python.edition())
        self._confinement = Confinement(bwrap, self._python, self._harness(), protections)
        self._group_parent = cgroups.memory_parent()
        self._pool = Pool(pool, self._set_up, Piped.close, (NotStarted, OSError))
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
        """Refuse further runs, end those that wait; what is under way ends by itself, within its time."""
        self._pool.close()

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
        return self._layers.ensure(self._harness_key, self._make_harness)

    def _make_harness(self, folder: Path) -> None:
        write_harness(folder, self._python.executable)
        write_programs(folder, self._python)
        (folder / RULES).write_bytes(self._filter)

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
        rules = os.open(self._confinement.rules, os.O_RDONLY)
        settings = asked.environment, asked.files
        command = self._confinement.install(pip, installer, folder, *settings, rules)
        with started([*self._as_user, *command], (rules,)) as process:
            os.close(rules)
            try:
                output = process.communicate(timeout=INSTALL_SECONDS)[1].decode(errors="replace")
            except subprocess.TimeoutExpired as error:
                raise SandboxUnavailable(f"pip did not end within {INSTALL_SECONDS} s") from error
        if process.returncode:
            raise failure(wanted, output, self._pip)

    def _exchange(self, message: bytes, limits: Limits, packages: Packages, fresh: bool) -> Reply:
        piped = self._taken(Shape.of(limits, packages), fresh)
        try:
            return piped.converse(message, longest(limits) + GRACE_SECONDS)
        finally:
            self._pool.discard(piped)

    def _taken(self, shape: "Shape", fresh: bool) -> Piped:
        if self._pool.closed:
            raise SandboxUnavailable("this sandbox was closed")
        try:
            return self._pool.take(shape, fresh) if shape.is_usual() else self._set_up(shape)
        except OSError as error:
            raise NotStarted(f"the sandbox could not be started: {error}") from error

    def _set_up(self, shape: "Shape") -> Piped:
        def command(rules: int, info: int) -> list[str]:
            run = self._confinement.run(shape.tmp_mb, dict(shape.folders), rules, info)
            return [*self._as_user, *run]

        return set_up(command, self._confinement.rules, lambda: self._memory_group(shape.memory_mb))

    def _memory_group(self, megabytes: int) -> MemoryGroup | None:
        """A group for one run, where groups may be made."""
        if self._group_parent is None:
            return None
        return MemoryGroup.make(self._group_parent, megabytes + _GROUP_MARGIN_MB)
