"""Asks a sandbox, from inside, what protects it: nothing is taken for granted from the command line."""

import json
import os
import platform
import stat
import subprocess
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from sandbox.backends.execution import ENVIRONMENT, PACKAGES_VARIABLE, shared_memory_mb
from sandbox.backends.weaknesses import list_weakness_checks
from sandbox.host_users import HostUsers, are_users_told_apart
from sandbox.program import Limits, Program
from sandbox.protocol import Check, SandboxUnavailable
from sandbox.reports.canonical import canonical_text
from sandbox.reports.report import Outcome, Report

__all__ = [
    "Check",
    "ProtectionMissing",
    "bubblewrap_checks",
    "docker_checks",
    "find_missing_protections",
    "require_protections",
]

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

def plant(folder):
    with open(folder + "/planted", "x"):
        os.unlink(folder + "/planted")

def writable():
    with open("/proc/self/mounts") as file:
        folders = {line.split()[1] for line in file}
    return {folder: megabytes(folder) for folder in folders if not refused(lambda: plant(folder))}

def lower_score():
    with open("/proc/self/oom_score_adj", "r+b", buffering=0) as file:
        file.write(str(int(file.read()) - 1).encode())

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
        "MB where it may write": writable(),
        "lowering its score": refused(lower_score),
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
_VARIABLES = {*ENVIRONMENT, PACKAGES_VARIABLE}
_FIRST_TO_GO = "first to go when memory runs out"
_RAISES_SCORES = "An engine without CAP_SYS_RESOURCE cannot forbid a program to lower its oom_score_adj."
_PROTECTIONS: tuple[tuple[str, str, _Holds], ...] = (
    ("no capability", "CapEff", lambda found: int(found, 16) == 0),
    ("no new privileges", "NoNewPrivs", lambda found: found == "1"),
    ("system calls filtered", "Seccomp", lambda found: found == "2"),
    ("not root", "uid", lambda found: found != 0),
    ("no network", "connecting", bool),
    ("no interface but its own loopback", "interfaces", lambda found: set(found) <= {"lo"}),
    ("read-only root", "writing to /", bool),
    ("read-only packages", "writing to /packages", bool),
    ("temporary space limited", "MB where it may write", lambda found: _is_sized(found)),
    (_FIRST_TO_GO, "lowering its score", bool),
    ("no engine socket", "sockets", lambda found: not found),
    ("own processes alone", "processes", lambda found: found <= _OWN_PROCESSES),
    ("nothing of the caller's environment", "environment", lambda found: set(found) <= _VARIABLES),
)
_OWN_USER = "own user of the machine for each run"
_SHARED_USER = (
    "One program can use up the pipe pages and inotify instances of another, which then does not behave as it"
    " does alone. Root has users for each, and so has Docker without user namespaces: docs/security.md."
)
# These put a kernel of their own between program and machine; the engine's filter guards that one.
_OWN_KERNEL = ("runsc", "kata")
Run = Callable[[Program, Limits], Report]


class ProtectionMissing(SandboxUnavailable):
    """Programs could be run here, but not safely: somebody has to look at this machine."""


def find_missing_protections(checks: Iterable[Check]) -> tuple[Check, ...]:
    """Those without which nothing is executed."""
    return tuple(check for check in checks if check.required and not check.ok)


def require_protections(checks: Iterable[Check]) -> None:
    """Raises ProtectionMissing, which names every required protection that does not hold."""
    lacking = "; ".join(f"{check.name} ({check.found})" for check in find_missing_protections(checks))
    if lacking:
        raise ProtectionMissing(f"a required protection is missing, so nothing is executed: {lacking}")


def bubblewrap_checks(
    run: Run, bwrap: str, group_parent: Path | None, users: HostUsers | None
) -> tuple[Check, ...]:
    """Versions, protections seen from inside, who holds the memory limit, and under which users runs are."""
    told = subprocess.run([bwrap, "--version"], capture_output=True, text=True, check=False).stdout.strip()
    versions = {"kernel": platform.release(), "bubblewrap": told}
    memory = f"control group below {group_parent}" if group_parent else "best effort: sums of resident memory"
    setuid = bool(Path(bwrap).stat().st_mode & stat.S_ISUID)
    return (
        *_facts(versions),
        *_inside(run, {_FIRST_TO_GO: ""}),
        Check("memory limit held by the kernel", group_parent is not None, memory, required=False),
        _own_user_check(_who_shares(users)),
        Check(
            "bubblewrap without setuid",
            not setuid,
            bwrap,
            required=False,
            advice="A fault in it would make programs root: chmod u-s, and allow user namespaces." * setuid,
        ),
        *list_weakness_checks(versions),
    )


def docker_checks(
    run: Run, version: Mapping[str, Any], info: Mapping[str, Any], runtime: str
) -> tuple[Check, ...]:
    """Versions and limits as the engine tells them, and protections seen from inside."""
    parts = {part["Name"]: str(part["Version"]) for part in version.get("Components", ())}
    versions = {"kernel": str(version.get("KernelVersion", "unknown")), **parts}
    limits = {"memory": "MemoryLimit", "memory with swap": "SwapLimit", "processes": "PidsLimit"}
    options = " ".join(info.get("SecurityOptions") or ())
    shared = next((kind for kind in ("userns", "rootless") if f"name={kind}" in options), "")
    own_kernel = any(name in runtime for name in _OWN_KERNEL)
    out_of_reach = f"under {runtime} the machine's kernel is out of reach"
    optional = {"system calls filtered", "no new privileges"} if own_kernel else set()
    return (
        *_facts({**versions, "runtime": runtime or str(info.get("DefaultRuntime", "unknown"))}),
        *_inside(run, {**dict.fromkeys(optional, out_of_reach), _FIRST_TO_GO: _RAISES_SCORES}),
        *(
            Check(f"limit of {name}", bool(info.get(key)), f"the engine can hold it: {bool(info.get(key))}")
            for name, key in limits.items()
        ),
        _own_user_check(f"the engine's ({shared}): all count for it too" if shared else ""),
        *list_weakness_checks(versions),
    )


def _own_user_check(shared: str) -> Check:
    """`shared` says whose user it is otherwise. Not required: nobody forges a verdict so."""
    found = shared or "leased while it lives"
    return Check(_OWN_USER, not shared, found, required=False, advice=_SHARED_USER if shared else "")


def _who_shares(users: HostUsers | None) -> str:
    if users is None:
        return f"user {os.geteuid()} for all"
    return "" if are_users_told_apart() else "the owner of this user namespace: all count for it too"


def _is_sized(found: Mapping[str, int]) -> bool:
    most = Limits().tmp_mb
    return {*found} <= {"/tmp", "/dev/shm"} and sum(found.values()) <= most + shared_memory_mb(most)


def _facts(found: Mapping[str, str]) -> Iterator[Check]:
    return (Check(name, bool(what), what, required=False) for name, what in found.items())


def _inside(run: Run, optional: Mapping[str, str]) -> Iterator[Check]:
    """What a program sees of the protections around it; one failed check when it cannot be run.

    `optional` names those that need not hold here, with the reason.
    """
    report = run(_PROBE, Limits())
    if report.outcome is not Outcome.PASSED:
        yield Check("a program runs", False, report.detail or canonical_text(report))
        return
    found = json.loads(report.stdout)
    yield Check("a program runs", True, f"{report.seconds:.3f} s")
    for name, key, holds in _PROTECTIONS:
        # gVisor's kernel does not tell of all.
        ok, told = (holds(found[key]), _short(found[key])) if key in found else (False, "not told here")
        advice = "" if ok else optional.get(name, "")
        yield Check(name, ok, f"{key}: {told or 'nothing'}", name not in optional, advice)


def _short(value: object) -> str:
    text = str(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
