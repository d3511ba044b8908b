"""The bubblewrap command lines: what a run may see, and what an installation may."""

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from sandbox.execution import ENVIRONMENT
from sandbox.interpreter import Interpreter
from sandbox.processes import mark
from sandbox.protections import ALL, Protection

__all__ = ["ENTRY", "PIP_ENTRY", "PYTHON_OPTIONS", "RULES", "Confinement"]

RULES = "seccomp.bpf"
"""The file beside the harness that holds the system call filter."""

_INSIDE_UID = "65534"
_LIBRARIES = (
    "/usr/lib/x86_64-linux-gnu",
    "/usr/lib/aarch64-linux-gnu",
    "/usr/lib64",
)
_OWN_LINKS = {
    "usr/lib": "/lib",
    "usr/lib64": "/lib64",
    "/harness/bin": "/usr/bin",
    "/harness/zoneinfo": "/usr/share/zoneinfo",
    "usr/bin": "/bin",
}
# Not -I: it would ignore PYTHONHASHSEED, and the environment is ours from end to end.
PYTHON_OPTIONS = ("-s", "-P", "-S", "-B")
ENTRY = (
    "import gc, sys; gc.disable(); sys.path.insert(0, '/harness');"
    " from sandbox.harness.supervisor import main; main()"
)
# Only wheels are unpacked, so pip itself is what these limits hold.
PIP_ENTRY = """
import compileall, re, resource, runpy, sys
limits = {resource.RLIMIT_AS: 4 << 30, resource.RLIMIT_FSIZE: 2 << 30, resource.RLIMIT_CORE: 0}
for kind, most in limits.items():
    resource.setrlimit(kind, (most, most))
sys.path.insert(0, "/installer")
try:
    runpy.run_module("pip", run_name="__main__")
except SystemExit as end:
    if end.code:
        raise
# Packages' own tests are often more than the packages.
target = sys.argv[sys.argv.index("--target") + 1]
compileall.compile_dir(target, quiet=2, rx=re.compile("/tests?/"))
"""
_INSTALL_TMP_MB = 2048
# What a run would see of the machine without Protection.FILES.
_MACHINE = ("/home", "/opt", "/root", "/run", "/srv", "/var")


@dataclass(frozen=True, slots=True)
class Confinement:
    """The parts of this machine that every sandbox is made of, and the protections that a run gets."""

    bwrap: str
    python: Interpreter
    harness: Path
    protections: frozenset[Protection] = ALL

    @property
    def rules(self) -> Path:
        """The file of the system call filter."""
        return self.harness / RULES

    def run(self, tmp_mb: int, packages: Mapping[str, Path], filter_fd: int, info_fd: int) -> list[str]:
        """The command that waits for one request; `packages` maps folders inside to this machine's."""
        folders = {"/harness": self.harness, **packages}
        bind = "--ro-bind" if Protection.PACKAGES in self.protections else "--bind"
        return [
            *self._base(self._environment(), tmp_mb),
            *self._namespaces(),
            *self._when(Protection.SYSTEM_CALLS, "--seccomp", str(filter_fd)),
            *("--info-fd", str(info_fd), "--symlink", "harness/etc", "/etc"),
            *_pairs(bind, ((str(outside), inside) for inside, outside in folders.items())),
            *self._unless(Protection.FILES, *_pairs("--ro-bind-try", ((name, name) for name in _MACHINE))),
            *("--chdir", "/tmp"),
            *self._when(Protection.READ_ONLY, "--remount-ro", "/dev", "--remount-ro", "/"),
            *("--", *self._python(), *PYTHON_OPTIONS, "-c", ENTRY),
        ]

    def install(
        self,
        pip: list[str],
        installer: Path,
        target: Path,
        environment: Mapping[str, str],
        files: tuple[Path, ...],
        filter_fd: int,
    ) -> list[str]:
        """The command that installs into `target`, seen as /target: network, but no program inside."""
        names = (
            "/etc/resolv.conf",
            "/etc/hosts",
            "/etc/nsswitch.conf",
            "/etc/ssl",
            "/usr/share/ca-certificates",
        )
        settings = {"HOME": "/tmp", "LC_ALL": "C.UTF-8", "PIP_CONFIG_FILE": "/dev/null", **environment}
        return [
            *self._base(settings, _INSTALL_TMP_MB),
            *("--unshare-user", "--unshare-ipc", "--unshare-pid", "--unshare-uts", "--unshare-cgroup-try"),
            *("--disable-userns", "--seccomp", str(filter_fd), "--proc", "/proc"),
            *_pairs("--ro-bind-try", ((name, name) for name in (*names, *map(str, files)))),
            *_pairs("--ro-bind", ((str(self.harness), "/harness"), (str(installer), "/installer"))),
            *("--bind", str(target), "/target"),
            *("--remount-ro", "/dev", "--remount-ro", "/"),
            *("--", *self._python(), "-I", "-S", "-B", "-c", PIP_ENTRY, *pip),
        ]

    def _namespaces(self) -> Iterator[str]:
        yield from ("--unshare-user", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try")
        yield from self._when(Protection.NETWORK, "--unshare-net")
        if Protection.PROCESSES not in self.protections:
            yield from ("--bind", "/proc", "/proc")
            return
        yield from ("--unshare-pid", "--proc", "/proc")
        yield from self._when(Protection.PROCESS_1, "--as-pid-1")
        yield from self._when(Protection.NESTING, "--disable-userns")

    def _environment(self) -> Mapping[str, str]:
        return ENVIRONMENT if Protection.ENVIRONMENT in self.protections else {**os.environ, **ENVIRONMENT}

    def _when(self, protection: Protection, *options: str) -> tuple[str, ...]:
        return options if protection in self.protections else ()

    def _unless(self, protection: Protection, *options: str) -> tuple[str, ...]:
        return () if protection in self.protections else options

    def _base(self, environment: Mapping[str, str], tmp_mb: int) -> list[str]:
        size = str(tmp_mb * 2**20)
        return [
            *(self.bwrap, "--die-with-parent", "--hostname", "sandbox", "--clearenv"),
            *self._rights(),
            *_pairs("--setenv", environment.items()),
            *self._system(),
            *("--dev", "/dev"),
            *("--size", size, "--tmpfs", "/dev/shm", "--size", size, "--tmpfs", "/tmp"),
        ]

    def _rights(self) -> tuple[str, ...]:
        if Protection.RIGHTS in self.protections:
            return ("--cap-drop", "ALL", "--uid", _INSIDE_UID, "--gid", _INSIDE_UID)
        return ("--cap-add", "ALL", "--uid", "0", "--gid", "0")

    def _python(self) -> tuple[str, ...]:
        """An option that Python knows nothing of is where a process inside can carry the mark."""
        return "/usr/bin/python3", "-X", mark()

    def _system(self) -> Iterator[str]:
        for folder in (Path(one) for one in (*_LIBRARIES, self.python.library)):
            if folder.is_dir():
                yield from _links(folder) or ("--ro-bind", str(folder), str(folder))
        yield from _pairs("--symlink", _OWN_LINKS.items())


@cache
def _links(folder: Path) -> tuple[str, ...]:
    """The options that make the links of a folder of nothing else: sooner than a mount is."""
    links = []
    with os.scandir(folder) as found:
        for one in found:
            if not one.is_symlink():
                return ()
            links.append((os.readlink(one.path), one.path))
    return tuple(_pairs("--symlink", links))


def _pairs(option: str, pairs: Iterable[tuple[str, str]]) -> Iterator[str]:
    for first, second in pairs:
        yield from (option, first, second)
