"""Asks a sandbox, from inside, what protects it: nothing is taken for granted from the command line."""

import json
import platform
import stat
import subprocess
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from sandbox.execution import ENVIRONMENT
from sandbox.program import Limits, Program
from sandbox.protocol import Check, SandboxUnavailable
from sandbox.report import Outcome, Report
from sandbox.weaknesses import weaknesses

__all__ = ["Check", "ProtectionMissing", "bubblewrap_checks", "docker_checks", "missing", "require"]

_PROBE = Program(
    candidate="""
import os, socket

def status():
    with open("/proc/self/status") as file:
        return {line.partition(":")[0]: line.partition(":")[2].strip() for line in file}

def refused(action):
    try:
        action()
    except OSError as error:
        return type(error).__name__
    return ""

def megabytes(folder):
    found = os.statvfs(folder)
    return found.f_blocks * found.f_frsize // 2**20

def interfaces():
    with open("/proc/net/dev") as file:
        return [line.partition(":")[0].strip() for line in file if ":" in line]

def look():
    return {
        **{name: value for name, value in status().items() if name in ("CapEff", "NoNewPrivs", "Seccomp")},
        "uid": os.getuid(),
        "connecting": refused(lambda: socket.create_connection(("192.0.2.1", 80), timeout=1)),
        "interfaces": interfaces(),
        "writing to /": refused(lambda: open("/planted", "w")),
        "writing to /packages": refused(lambda: open("/packages/planted", "w")),
        "MB in /tmp and /dev/shm": [megabytes("/tmp"), megabytes("/dev/shm")],
        "sockets": [path for path in ("/run/docker.sock", "/var/run/docker.sock") if os.path.exists(path)],
        "processes": sum(name.isdigit() for name in os.listdir("/proc")),
        "environment": sorted(os.environ),
    }
""",
    source="import json\nfound = look()\nprint(json.dumps(found))\nassert found\n",
    trace=False,
)
# Harness and program; a container's main process may be one more.
_OWN_PROCESSES = 3
_Holds = Callable[[Any], bool]
_PROTECTIONS: tuple[tuple[str, str, _Holds], ...] = (
    ("no capability", "CapEff", lambda found: int(found, 16) == 0),
    ("no new privileges", "NoNewPrivs", lambda found: found == "1"),
    ("system calls filtered", "Seccomp", lambda found: found == "2"),
    ("not root", "uid", lambda found: found != 0),
    ("no network", "connecting", bool),
    ("no interface but its own loopback", "interfaces", lambda found: set(found) <= {"lo"}),
    ("read-only root", "writing to /", bool),
    ("read-only packages", "writing to /packages", bool),
    ("temporary space limited", "MB in /tmp and /dev/shm", lambda found: max(found) <= Limits().tmp_mb),
    ("no engine socket", "sockets", lambda found: not found),
    ("own processes alone", "processes", lambda found: found <= _OWN_PROCESSES),
    ("nothing of the caller's environment", "environment", lambda found: set(found) <= set(ENVIRONMENT)),
)
# These put a kernel of their own between program and machine; the engine's filter guards that one.
_OWN_KERNEL = ("runsc", "kata")
Run = Callable[[Program, Limits], Report]


class ProtectionMissing(SandboxUnavailable):
    """Programs could be run here, but not safely: somebody has to look at this machine."""


def missing(checks: Iterable[Check]) -> tuple[Check, ...]:
    """Those without which nothing is executed."""
    return tuple(check for check in checks if check.required and not check.ok)


def require(checks: Iterable[Check]) -> None:
    """Raises ProtectionMissing, which names every required protection that does not hold."""
    lacking = "; ".join(f"{check.name} ({check.found})" for check in missing(checks))
    if lacking:
        raise ProtectionMissing(f"a required protection is missing, so nothing is executed: {lacking}")


def bubblewrap_checks(run: Run, bwrap: str, group_parent: Path | None) -> tuple[Check, ...]:
    """Versions, protections seen from inside, and who holds the memory limit."""
    told = subprocess.run([bwrap, "--version"], capture_output=True, text=True, check=False).stdout.strip()
    versions = {"kernel": platform.release(), "bubblewrap": told}
    memory = f"control group below {group_parent}" if group_parent else "best effort: sums of resident memory"
    setuid = bool(Path(bwrap).stat().st_mode & stat.S_ISUID)
    return (
        *_facts(versions),
        *_inside(run, {}),
        Check("memory limit held by the kernel", group_parent is not None, memory, required=False),
        Check(
            "bubblewrap without setuid",
            not setuid,
            bwrap,
            required=False,
            advice="A fault in it would make programs root: chmod u-s, and allow user namespaces." * setuid,
        ),
        *weaknesses(versions),
    )


def docker_checks(
    run: Run, version: Mapping[str, Any], info: Mapping[str, Any], runtime: str
) -> tuple[Check, ...]:
    """Versions and limits as the engine tells them, and protections seen from inside."""
    parts = {part["Name"]: str(part["Version"]) for part in version.get("Components", ())}
    versions = {"kernel": str(version.get("KernelVersion", "unknown")), **parts}
    limits = {"memory": "MemoryLimit", "memory with swap": "SwapLimit", "processes": "PidsLimit"}
    own_kernel = any(name in runtime for name in _OWN_KERNEL)
    optional = {"system calls filtered", "no new privileges"} if own_kernel else set()
    return (
        *_facts({**versions, "runtime": runtime or str(info.get("DefaultRuntime", "unknown"))}),
        *_inside(run, dict.fromkeys(optional, f"under {runtime} the machine's kernel is out of reach")),
        *(
            Check(f"limit of {name}", bool(info.get(key)), f"the engine can hold it: {bool(info.get(key))}")
            for name, key in limits.items()
        ),
        *weaknesses(versions),
    )


def _facts(found: Mapping[str, str]) -> Iterator[Check]:
    return (Check(name, bool(what), what, required=False) for name, what in found.items())


def _inside(run: Run, optional: Mapping[str, str]) -> Iterator[Check]:
    """What a program sees of the protections around it; one failed check when it cannot be run.

    `optional` names those that need not hold here, with the reason.
    """
    report = run(_PROBE, Limits())
    if report.outcome is not Outcome.PASSED:
        yield Check("a program runs", False, report.detail or report.canonical())
        return
    found = json.loads(report.stdout)
    yield Check("a program runs", True, f"{report.seconds:.3f} s")
    for name, key, holds in _PROTECTIONS:
        # gVisor's kernel does not tell of all.
        ok, told = (holds(found[key]), _short(found[key])) if key in found else (False, "not told here")
        yield Check(name, ok, f"{key}: {told}", name not in optional, optional.get(name, ""))


def _short(value: object) -> str:
    text = str(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
