"""What the containers of the Docker backend are allowed, as plain data: no engine is talked to here."""

import io
import os
import tarfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.resources import files
from pathlib import Path
from typing import Any

from sandbox.backends import owner
from sandbox.backends.confinement import ENTRY, PIP_ENTRY, PYTHON_OPTIONS
from sandbox.backends.execution import ENVIRONMENT, OOM_SCORE, shared_memory_mb
from sandbox.backends.interpreter import harness_files, harness_hash
from sandbox.backends.layers import build_layer_command, hash_layer_key
from sandbox.backends.protections import ALL, Protection
from sandbox.pip_install import PipSettings
from sandbox.program import Limits

LABEL = "cosqa.sandbox"
LAYERS_VOLUME = "cosqa-sandbox-layers"
# Nothing is counted for a group.
_GROUP = 65534
USER = f"{_GROUP}:{_GROUP}"
_MARGIN_MB = 64
_OPEN_FILES = 1024
_INODES = 4096
# In place of the engine's own, where anybody may make queues, in memory that nobody counts here.
_NOTHING = "ro,nosuid,nodev,noexec,mode=555,size=4k,nr_inodes=1"
# gVisor's kernel ends in mid-run when it may not have a thread for each of the program's, and some besides.
_SENTRY_THREADS = 1024
_INSTALL_MEMORY, _INSTALL_FILE_MB = 2 * 2**30, 2048
# What a run would see of the machine without Protection.FILES.
_MACHINE = ("/home", "/opt", "/root", "/run", "/srv", "/var")
# What it could do, beside being root, without Protection.RIGHTS.
_DANGEROUS = ("DAC_READ_SEARCH", "NET_ADMIN", "SYS_ADMIN", "SYS_PTRACE", "SYS_RAWIO")
_IMAGE_FILES = ("Dockerfile", "requirements.txt", "installer.txt")


@dataclass(frozen=True, slots=True)
class Shape:
    """What of the limits is fixed when a container is made; the harness holds the rest."""

    memory_mb: int
    processes: int
    tmp_mb: int
    file_mb: int

    @classmethod
    def of(cls, limits: Limits) -> "Shape":
        """The container that a run under these limits needs."""
        return cls(limits.memory_mb, limits.processes, limits.tmp_mb, limits.file_mb)


def run_container(
    shape: Shape, seccomp: str, runtime: str, protections: frozenset[Protection] = ALL
) -> dict[str, Any]:
    """Arguments of `create_host_config` for a run: no network, no rights, only tmpfs to write to."""
    memory = (shape.memory_mb + _MARGIN_MB) * 2**20
    return {
        **_namespaces(protections),
        **_rights(seccomp, protections),
        "read_only": Protection.READ_ONLY in protections,
        "tmpfs": {"/tmp": _temporary(shape, protections), "/dev/mqueue": _NOTHING},
        "shm_size": shared_memory_mb(shape.tmp_mb) * 2**20,
        "pids_limit": shape.processes + _own_processes(runtime),
        "mem_limit": memory,
        "memswap_limit": memory,
        **({"nano_cpus": 1_000_000_000} if Protection.CPU in protections else {}),
        "ulimits": _ulimits(shape.file_mb),
        # The harness is process 1: it cannot be killed, stopped or read by the program, and it reaps.
        "init": Protection.PROCESS_1 not in protections,
        "oom_score_adj": OOM_SCORE,
        "binds": _binds(protections),
        "log_config": {"Type": "none", "Config": {}},
        **({"runtime": runtime} if runtime else {}),
    }


def run_identity(user: int, runtime: str = "", protections: frozenset[Protection] = ALL) -> dict[str, Any]:
    """Arguments of `create_container` that say who the program is, and that nobody connects it.

    With the network disabled, not only of the kind "none", the engine does not call its own large program
    while the container starts: a third of what a start costs. The loopback interface is the runtime's, which
    runsc has none of unless the engine makes its network.
    """
    own = Protection.ENVIRONMENT in protections
    return {
        "network_disabled": Protection.NETWORK in protections and not runtime,
        "user": f"{user}:{_GROUP}" if Protection.RIGHTS in protections else "0:0",
        "environment": ENVIRONMENT if own else {**os.environ, **ENVIRONMENT},
    }


def install_container(seccomp: str, files: Sequence[Path], runtime: str) -> dict[str, Any]:
    """Arguments of `create_host_config` for an installation: network, a writable volume, no program."""
    mounts = [f"{path}:{path}:ro" for path in files]
    return {
        **_rights(seccomp, ALL),
        "read_only": True,
        "tmpfs": {"/tmp": "rw,nosuid,nodev,noexec,mode=1777,size=2g"},
        "shm_size": 2**20,
        "pids_limit": 64 + _own_processes(runtime),
        "mem_limit": _INSTALL_MEMORY,
        "memswap_limit": _INSTALL_MEMORY,
        "nano_cpus": 1_000_000_000,
        "ulimits": _ulimits(_INSTALL_FILE_MB),
        "init": True,
        "oom_score_adj": OOM_SCORE,
        "binds": [f"{LAYERS_VOLUME}:/layers:rw", *mounts],
        "log_config": {"Type": "json-file", "Config": {"max-size": "1m", "max-file": "1"}},
        **({"runtime": runtime} if runtime else {}),
    }


def _namespaces(protections: frozenset[Protection]) -> dict[str, Any]:
    network = "none" if Protection.NETWORK in protections else "host"
    return {"network_mode": network, **({} if Protection.PROCESSES in protections else {"pid_mode": "host"})}


def _own_processes(runtime: str) -> int:
    """Those in a container that are not the program's: the harness, threads of a runtime's own kernel."""
    return _SENTRY_THREADS if runtime.startswith("runsc") else 1


def _rights(seccomp: str, protections: frozenset[Protection]) -> dict[str, Any]:
    filtered = seccomp if Protection.SYSTEM_CALLS in protections else "unconfined"
    fixed = ["no-new-privileges:true"] if Protection.NEW_PRIVILEGES in protections else []
    no_rights = Protection.RIGHTS in protections
    capabilities = {"cap_drop": ["ALL"]} if no_rights else {"cap_add": [*_DANGEROUS]}
    return {**capabilities, "security_opt": [*fixed, f"seccomp={filtered}"]}


def _temporary(shape: Shape, protections: frozenset[Protection]) -> str:
    options = f"rw,exec,nosuid,nodev,mode=1777,size={shape.tmp_mb * 2**20}"
    return f"{options},nr_inodes={_INODES if Protection.INODES in protections else 0}"


def _ulimits(file_mb: int) -> list[dict[str, Any]]:
    limits = {"nofile": _OPEN_FILES, "fsize": file_mb * 2**20, "core": 0}
    return [{"Name": name, "Soft": most, "Hard": most} for name, most in limits.items()]


def _binds(protections: frozenset[Protection]) -> list[str]:
    mode = "ro" if Protection.PACKAGES in protections else "rw"
    machine = () if Protection.FILES in protections else _MACHINE
    return [f"{LAYERS_VOLUME}:/layers:{mode}", *(f"{folder}:{folder}:ro" for folder in machine)]


def harness_command() -> list[str]:
    """The main process of a run container."""
    return ["python3", *PYTHON_OPTIONS, "-c", ENTRY]


def install_command(layer: str, most_mb: int, pip: Sequence[str]) -> list[str]:
    """The main process of an install container, which verifies the layer, or has `pip` fill TARGET."""
    return build_layer_command(layer, most_mb, ["python3", "-I", "-S", "-B", "-c", PIP_ENTRY, *pip])


def build_container_labels(kind: str, seconds: float, sandbox: str) -> dict[str, str]:
    """What a reaper must know: which sandbox of whom it serves, and from when on nobody can need it."""
    return {
        LABEL: kind,
        f"{LABEL}.owner": owner.identify_own_process(),
        f"{LABEL}.sandbox": sandbox,
        f"{LABEL}.deadline": f"{time.time() + seconds:.0f}",
    }


def is_container_expired(labels: Mapping[str, str]) -> bool:
    """Whether a labelled container is past its deadline, or its owner on this machine is dead."""
    dead = owner.is_dead(labels.get(f"{LABEL}.owner", ""))
    return dead or float(labels.get(f"{LABEL}.deadline", "0")) < time.time()


def image_tag() -> str:
    """The tag of the image that this version builds: it changes with everything that is in it."""
    texts = [files("sandbox.image").joinpath(name).read_text() for name in _IMAGE_FILES]
    return f"cosqa-sandbox:{hash_layer_key(harness_hash(), *texts)[:16]}"


def build_arguments(pip: PipSettings, certificate: bool) -> dict[str, str]:
    """The image's build arguments: those that the engine predefines, as it keeps no others to itself.

    All others stand in the image's history, and settings may hold credentials: see the Dockerfile.
    """
    kept = {name: value for name, value in pip.environment.items() if "file:" not in value}
    kept |= {"PIP_CERT": "/image/pip-ca.crt"} if certificate else {}
    left_out = {"PIP_FIND_LINKS", *(set() if certificate else {"PIP_CERT"})}
    settings = replace(pip, environment={name: kept[name] for name in kept if name not in left_out})
    proxies = {name: value for name, value in kept.items() if not name.startswith("PIP_")}
    return {**proxies, "FTP_PROXY": settings.as_file()}


def build_context(certificate: bytes) -> bytes:
    """The tar that the engine builds the image from; `certificate` is pip's CA bundle, empty for its own."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as tar:
        contents = {name: files("sandbox.image").joinpath(name).read_bytes() for name in _IMAGE_FILES}
        contents["pip-ca.crt"] = certificate
        contents["harness/sandbox/__init__.py"] = b""
        for name, text in harness_files().items():
            contents[f"harness/sandbox/harness/{name}"] = text.encode()
        for name, data in contents.items():
            entry = tarfile.TarInfo(name)
            entry.size, entry.mode = len(data), 0o644
            tar.addfile(entry, io.BytesIO(data))
    return buffer.getvalue()


def install_environment(pip: Mapping[str, str]) -> dict[str, str]:
    """An installation's environment: pip's settings, and what pip needs besides."""
    return {"HOME": "/tmp", "LC_ALL": "C.UTF-8", "PIP_CONFIG_FILE": "/dev/null", **pip}
