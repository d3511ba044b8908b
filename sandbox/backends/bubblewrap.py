"""The one-machine backend: namespaces by bubblewrap, no daemon, never as root."""

import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from importlib.metadata import version
from io import FileIO
from pathlib import Path
from typing import TypeVar

from sandbox.backends import cgroups, processes
from sandbox.backends.cgroups import MemoryGroup
from sandbox.backends.checks import Check, bubblewrap_checks
from sandbox.backends.confinement import RULES, Confinement
from sandbox.backends.execution import (
    GRACE_SECONDS,
    NotStarted,
    Packages,
    Reply,
    Runner,
    longest_wall_seconds,
)
from sandbox.backends.fork_server import ForkServer, ForkServers
from sandbox.backends.interpreter import (
    copy_pip,
    harness_hash,
    inspect_interpreter,
    write_harness,
    write_programs,
)
from sandbox.backends.layers import Layers, NoRoom, hash_layer_key, reachable_home
from sandbox.backends.piped import Piped, set_up
from sandbox.backends.pool import Pool
from sandbox.backends.processes import as_user, run_process_in_block
from sandbox.backends.protections import ALL, Protection
from sandbox.backends.queue import Queue
from sandbox.backends.seccomp import build_seccomp_filter
from sandbox.dependencies import Requirement, vet_requirements
from sandbox.expression_call import Answer, Call
from sandbox.host_users import USERS, HostUsers, users_of_backend
from sandbox.imports import find_first_library
from sandbox.pip_install import (
    INSTALL_SECONDS,
    PipSettings,
    build_pip_arguments,
    diagnose_pip_failure,
    load_pinned_requirements,
)
from sandbox.program import Limits, Program
from sandbox.protocol import SandboxUnavailable
from sandbox.reports.report import Outcome, Report

# Beside the program's memory there is the harness's own, and what the kernel keeps for both.
_GROUP_MARGIN_MB = 64
_USUAL_FOLDERS = ("/packages",)
Started = TypeVar("Started")
_PROBE = Program(candidate="def probe():\n    return 2\n", source="assert probe() == 2\n", trace=False)


@dataclass(frozen=True, slots=True)
class Shape:
    """What is fixed when a bubblewrap is set up: memory, and the folders that it sees, as they are now."""

    memory_mb: int
    tmp_mb: int
    folders: tuple[tuple[str, Path], ...]
    editions: tuple[int, ...]
    first: str = ""

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

    Called by root it gives each a user of its own out of `users`, and installs packages as `uid`, who runs no
    program. `pool` of them are set up ahead and wait, ready for limits like those of the last run. With
    `forks` those that need no layer of their own are forked by a Python that is already running
    (sandbox/backends/fork_server.py).
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
        forks: bool = False,
        users: range = USERS,
    ) -> None:
        bwrap = shutil.which("bwrap")
        if bwrap is None:
            raise SandboxUnavailable("bubblewrap is not installed: apt-get install bubblewrap")
        self._uid, self._pip = (uid if os.geteuid() == 0 else None), pip
        self._as_user = () if self._uid is None else as_user(uid)
        self._users = None if self._uid is None else HostUsers(users_of_backend(users, self.name))
        self._python, self._filter = inspect_interpreter(), build_seccomp_filter()
        self._base_key = hash_layer_key("base", self._python.build, *map(str, load_pinned_requirements()))
        self.image = f"bubblewrap:{hash_layer_key(self._base_key, harness_hash(), self._filter.hex())}"
        # Asked once: a tool that is updated meanwhile must not rename the folder that is in use.
        self._harness_key = hash_layer_key(self.image, self._python.edition())
        try:
            self._layers = Layers(reachable_home(home) / "layers", pip.layers_mb)
            harness = self._harness()
        except (NoRoom, OSError) as error:
            raise SandboxUnavailable(f"{home} cannot hold the sandbox's packages: {error}") from error
        self._confinement = Confinement(bwrap, self._python, harness, protections)
        self._group_parent = cgroups.memory_parent()
        self._servers = ForkServers(concurrency or os.cpu_count() or 1, self._start_server) if forks else None
        self._pool = Pool(pool, self._set_up, Piped.close, (NotStarted, OSError))
        self._queue = Queue(concurrency)
        self._runner = Runner(self.name, self._queue, True, self._packages, self._exchange)
        if protections == ALL:
            self._probe()
            if self._servers:
                self._probe_forks()
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
        return bubblewrap_checks(self.run, self._confinement.bwrap, self._group_parent, self._users)

    def reap(self) -> int:
        """Remove the processes, control groups and unfinished layers of callers that no longer live."""
        ended = processes.reap_orphan_processes() + (
            cgroups.reap_orphan_cgroups(self._group_parent) if self._group_parent else 0
        )
        return ended + self._layers.reap()

    def close(self) -> None:
        """Refuse further runs, end those that wait; what is under way ends by itself, within its time."""
        self._pool.close()
        if self._servers:
            self._servers.close()

    def _probe(self) -> None:
        bare = Runner(self.name, self._queue, True, lambda program: Packages(), self._exchange)
        seen = bare.run(_PROBE, Limits())
        if seen.outcome is not Outcome.PASSED:
            raise SandboxUnavailable(
                f"bubblewrap does not work here ({seen.stderr or seen.detail or seen.outcome}):"
                " it needs unprivileged user namespaces (sysctl user.max_user_namespaces,"
                " kernel.unprivileged_userns_clone, kernel.apparmor_restrict_unprivileged_userns)"
            )

    def _probe_forks(self) -> None:
        seen = self._runner.run(_PROBE, Limits())
        if seen.outcome is not Outcome.PASSED:
            self.close()
            raise SandboxUnavailable(
                f"sandboxes can't be forked here ({seen.stderr or seen.detail or seen.outcome}): that needs"
                " user namespaces inside of bubblewrap's. Unset COSQA_SANDBOX_FORKS to have each started"
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
        return Packages(folders, find_first_library(program) if self._servers else "")

    def _harness(self) -> Path:
        return self._layers.ensure(self._harness_key, self._make_harness)

    def _make_harness(self, folder: Path) -> None:
        write_harness(folder, self._python.executable)
        write_programs(folder, self._python)
        (folder / RULES).write_bytes(self._filter)

    def _base(self) -> Path:
        return self._layers.ensure(
            self._base_key, lambda folder: self._install(folder, load_pinned_requirements(), resolve=False)
        )

    def _layer(self, texts: tuple[str, ...]) -> Path:
        wanted = vet_requirements(texts)
        name = hash_layer_key(self._base_key, self._pip.sources(), *map(str, wanted))
        return self._layers.ensure(name, lambda folder: self._install(folder, wanted, resolve=True))

    def _install(self, folder: Path, wanted: tuple[Requirement, ...], resolve: bool) -> None:
        installer = self._layers.ensure(
            hash_layer_key("installer", *map(str, load_pinned_requirements("installer.txt"))),
            self._make_installer,
        )
        self._pip_install(installer, folder, wanted, resolve)

    def _make_installer(self, folder: Path) -> None:
        # The caller's pip fetches the pinned one, which knows --uploaded-prior-to.
        first = self._layers.ensure(hash_layer_key("bootstrap", version("pip"), sys.version), copy_pip)
        self._pip_install(first, folder, load_pinned_requirements("installer.txt"), resolve=False)

    def _pip_install(
        self, installer: Path, folder: Path, wanted: tuple[Requirement, ...], resolve: bool
    ) -> None:
        asked = self._pip.dated() if resolve else self._pip
        pip = build_pip_arguments(wanted, "/target", asked, resolve)
        if self._uid is not None:
            os.chown(folder, self._uid, self._uid)
        with self._confinement.rules.open("rb", 0) as rules, _memory_file() as options:
            opened = rules.fileno(), options.fileno()
            command, told = self._confinement.install(
                pip, installer, folder, asked.environment, asked.files, *opened
            )
            options.write(told)
            options.seek(0)
            with run_process_in_block([*self._as_user, *command], opened) as process:
                output = _last_output(process)
        if process.returncode:
            raise diagnose_pip_failure(wanted, output, self._pip)

    def _exchange(self, message: bytes, limits: Limits, packages: Packages, fresh: bool) -> Reply:
        shape = Shape.of(limits, packages)
        if self._servers and shape.is_usual() and not fresh:
            shape = replace(shape, first=packages.first)
            return self._forked(self._servers, message, limits, shape)
        piped = self._taken(shape, fresh)
        try:
            return piped.converse(message, longest_wall_seconds(limits) + GRACE_SECONDS)
        finally:
            self._pool.discard(piped)

    def _forked(self, servers: ForkServers[Shape], message: bytes, limits: Limits, shape: Shape) -> Reply:
        server = self._started(lambda: servers.take(shape))
        try:
            reply = server.converse(message, longest_wall_seconds(limits) + GRACE_SECONDS)
        except BaseException:
            server.close()
            raise
        return replace(reply, release=lambda clean: servers.give_back(shape, server, clean))

    def _start_server(self, shape: Shape) -> ForkServer:
        ours, theirs = socket.socketpair()
        try:
            with theirs:
                lease = self._users.lease() if self._users else None
                piped = set_up(
                    lambda _, info: [
                        *(as_user(lease.user) if lease else ()),
                        *self._confinement.serve(
                            shape.tmp_mb, dict(shape.folders), shape.first, theirs.fileno(), info
                        ),
                    ],
                    self._confinement.rules,
                    lambda: self._memory_group(shape.memory_mb),
                    lease,
                    (theirs.fileno(),),
                )
        except BaseException:
            ours.close()
            raise
        return ForkServer(piped, ours)

    def _taken(self, shape: "Shape", fresh: bool) -> Piped:
        return self._started(
            lambda: self._pool.take(shape, fresh) if shape.is_usual() else self._set_up(shape)
        )

    def _started(self, start: Callable[[], Started]) -> Started:
        if self._pool.closed:
            raise SandboxUnavailable("this sandbox was closed")
        try:
            return start()
        except OSError as error:
            raise NotStarted(f"the sandbox could not be started: {error}") from error

    def _set_up(self, shape: "Shape") -> Piped:
        lease = self._users.lease() if self._users else None

        def command(rules: int, info: int) -> list[str]:
            run = self._confinement.run(shape.tmp_mb, dict(shape.folders), rules, info)
            return [*as_user(lease.user), *run] if lease else run

        return set_up(command, self._confinement.rules, lambda: self._memory_group(shape.memory_mb), lease)

    def _memory_group(self, megabytes: int) -> MemoryGroup | None:
        """A group for one run, where groups may be made."""
        if self._group_parent is None:
            return None
        return MemoryGroup.make(self._group_parent, megabytes + _GROUP_MARGIN_MB)


def _memory_file() -> FileIO:
    return FileIO(os.memfd_create("options"), "r+")


def _last_output(process: subprocess.Popen[bytes]) -> str:
    try:
        return process.communicate(timeout=INSTALL_SECONDS)[1].decode(errors="replace")
    except subprocess.TimeoutExpired as error:
        raise SandboxUnavailable(f"pip did not end within {INSTALL_SECONDS} s") from error
