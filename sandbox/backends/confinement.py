"""The bubblewrap command lines: what a run may see, and what an installation may."""

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from sandbox.backends.execution import ENVIRONMENT, shared_memory_mb
from sandbox.backends.interpreter import Interpreter
from sandbox.backends.processes import build_process_mark
from sandbox.backends.protections import ALL, Protection

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
    "import gc, marshal; gc.disable();"
    " load, parts = marshal.loads(open('/harness/sandbox/supervisor.bundle', 'rb').read());"
    " exec(load, {'parts': parts}); del load, parts;"
    " from sandbox.harness.supervisor import main; main()"
)
FORK_ENTRY = ENTRY.replace("supervisor", "fork_server")
# Only wheels are unpacked, so pip itself is what these limits hold. `--only-binary` says nothing of what a
# wheel's metadata wants from an address, which pip would fetch and build.
PIP_ENTRY = """
import compileall, os, re, resource, runpy, sys
limits = {resource.RLIMIT_AS: 4 << 30, resource.RLIMIT_FSIZE: 2 << 30, resource.RLIMIT_CORE: 0}
for kind, most in limits.items():
    resource.setrlimit(kind, (most, most))
# Whatever the caller's is, the users of programs must be able to read what is made.
os.umask(0o022)
sys.path.insert(0, "/installer")
from pip._internal.exceptions import InstallationError
from pip._vendor.packaging.requirements import Requirement

read = Requirement.__init__

def read_named(requirement, text):
    read(requirement, text)
    if requirement.url:
        raise InstallationError(f"{requirement.name} is wanted from an address")

def refuse_programs(event, arguments):
    if event in ("subprocess.Popen", "os.exec", "os.fork", "os.forkpty", "os.posix_spawn", "os.system"):
        raise PermissionError("an installation starts no program")

Requirement.__init__ = read_named
sys.addaudithook(refuse_programs)
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
        return [
            *self._run(tmp_mb, packages, info_fd),
            *self._when(Protection.SYSTEM_CALLS, "--seccomp", str(filter_fd)),
            *self._when(Protection.NESTING, "--disable-userns"),
            *self._when(Protection.READ_ONLY, "--remount-ro", "/proc"),
            *("--", *self._python(), *PYTHON_OPTIONS, "-c", ENTRY),
        ]

    def serve(
        self, tmp_mb: int, packages: Mapping[str, Path], library: str, link_fd: int, info_fd: int
    ) -> list[str]:
        """The command of a fork server, which listens on `link_fd` once it has loaded `library`, if any."""
        told = (link_fd, tmp_mb * 2**20, library, *sorted(self.protections))
        return [
            *self._run(tmp_mb, packages, info_fd),
            *("--", *self._python(), *PYTHON_OPTIONS, "-c", FORK_ENTRY, *map(str, told)),
        ]

    def _run(self, tmp_mb: int, packages: Mapping[str, Path], info_fd: int) -> list[str]:
        folders = {"/harness": self.harness, **packages}
        bind = "--ro-bind" if Protection.PACKAGES in self.protections else "--bind"
        return [
            self.bwrap,
            *self._base(self._environment(), tmp_mb),
            *self._namespaces(),
            *("--info-fd", str(info_fd), "--symlink", "harness/etc", "/etc"),
            *_repeat_option(bind, ((str(outside), inside) for inside, outside in folders.items())),
            *self._unless(
                Protection.FILES, *_repeat_option("--ro-bind-try", ((name, name) for name in _MACHINE))
            ),
            *("--chdir", "/tmp"),
            *self._when(Protection.READ_ONLY, "--remount-ro", "/dev", "--remount-ro", "/"),
        ]

    def install(
        self,
        pip: list[str],
        installer: Path,
        target: Path,
        environment: Mapping[str, str],
        files: tuple[Path, ...],
        filter_fd: int,
        options_fd: int,
    ) -> tuple[list[str], bytes]:
        """What installs into `target`, seen as /target: network, but no program inside.

        The command, and what `options_fd` has to give it: the settings may hold credentials, and everybody
        reads command lines.
        """
        names = (
            "/etc/resolv.conf",
            "/etc/hosts",
            "/etc/nsswitch.conf",
            "/etc/ssl",
            "/usr/share/ca-certificates",
        )
        settings = {"HOME": "/tmp", "LC_ALL": "C.UTF-8", "PIP_CONFIG_FILE": "/dev/null", **environment}
        options = [
            *self._base(settings, _INSTALL_TMP_MB),
            *("--unshare-user", "--unshare-ipc", "--unshare-pid", "--unshare-uts", "--unshare-cgroup-try"),
            *("--disable-userns", "--seccomp", str(filter_fd), "--proc", "/proc"),
            *_repeat_option("--ro-bind-try", ((name, name) for name in (*names, *map(str, files)))),
            *_repeat_option("--ro-bind", ((str(self.harness), "/harness"), (str(installer), "/installer"))),
            *("--bind", str(target), "/target"),
            *_repeat_single_option("--remount-ro", "/proc", "/dev", "/"),
        ]
        program = [*self._python(), "-I", "-S", "-B", "-c", PIP_ENTRY, *pip]
        return [self.bwrap, "--args", str(options_fd), "--", *program], "\0".join(options).encode()

    def _namespaces(self) -> Iterator[str]:
        yield from ("--unshare-user", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try")
        yield from self._when(Protection.NETWORK, "--unshare-net")
        if Protection.PROCESSES not in self.protections:
            yield from ("--bind", "/proc", "/proc")
            return
        yield from ("--unshare-pid", "--proc", "/proc")
        yield from self._when(Protection.PROCESS_1, "--as-pid-1")

    def _environment(self) -> Mapping[str, str]:
        return ENVIRONMENT if Protection.ENVIRONMENT in self.protections else {**os.environ, **ENVIRONMENT}

    def _when(self, protection: Protection, *options: str) -> tuple[str, ...]:
        return options if protection in self.protections else ()

    def _unless(self, protection: Protection, *options: str) -> tuple[str, ...]:
        return () if protection in self.protections else options

    def _base(self, environment: Mapping[str, str], tmp_mb: int) -> list[str]:
        tmp, shared = (str(megabytes * 2**20) for megabytes in (tmp_mb, shared_memory_mb(tmp_mb)))
        return [
            *("--die-with-parent", "--hostname", "sandbox", "--clearenv"),
            *self._rights(),
            *_repeat_option("--setenv", environment.items()),
            *self._system(),
            *("--dev", "/dev"),
            *("--size", shared, "--tmpfs", "/dev/shm", "--size", tmp, "--tmpfs", "/tmp"),
        ]

    def _rights(self) -> tuple[str, ...]:
        if Protection.RIGHTS in self.protections:
            return ("--cap-drop", "ALL", "--uid", _INSIDE_UID, "--gid", _INSIDE_UID)
        return ("--cap-add", "ALL", "--uid", "0", "--gid", "0")

    def _python(self) -> tuple[str, ...]:
        """An option that Python knows nothing of is where a process inside can carry the mark."""
        return "/usr/bin/python3", "-X", build_process_mark()

    def _system(self) -> Iterator[str]:
        for folder in (Path(one) for one in (*_LIBRARIES, self.python.library)):
            if folder.is_dir():
                yield from _links(folder) or ("--ro-bind", str(folder), str(folder))
        yield from _repeat_option("--symlink", _OWN_LINKS.items())


@cache
def _links(folder: Path) -> tuple[str, ...]:
    """The options that make the links of a folder of nothing else: sooner than a mount is."""
    links = []
    with os.scandir(folder) as found:
        for one in found:
            if not one.is_symlink():
                return ()
            links.append((os.readlink(one.path), one.path))
    return tuple(_repeat_option("--symlink", links))


def _repeat_single_option(option: str, *values: str) -> Iterator[str]:
    for value in values:
        yield from (option, value)


def _repeat_option(option: str, pairs: Iterable[tuple[str, str]]) -> Iterator[str]:
    for first, second in pairs:
        yield from (option, first, second)
