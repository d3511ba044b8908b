"""What the sandbox is held against: an interpreter without protection, and a fresh `docker run` a program."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bench.measure.clock import Work
from sandbox.backends.containers import Shape, run_container, run_identity
from sandbox.backends.interpreter import inspect_interpreter
from sandbox.backends.seccomp import docker_profile
from sandbox.host_users import USERS
from sandbox.program import Limits


def prepare_bare_interpreter(script: Path) -> Work:
    """`python -I script`, by the interpreter that bubblewrap uses."""
    command = [str(inspect_interpreter().executable), "-I", str(script)]
    return lambda: subprocess.run(command, check=True)


def docker_run(folder: Path, image: str, source: str) -> Work:
    """`docker run --rm` under the limits of our own containers; raises FileNotFoundError without a client."""
    profile = folder / "seccomp.json"
    profile.write_text(docker_profile())
    host = run_container(Shape.of(Limits()), docker_profile(), "") | run_identity(USERS[-1])
    command = [
        "docker",
        "run",
        "--rm",
        *list_container_flags(host, profile),
        image,
        "python3",
        "-I",
        "-c",
        source,
    ]
    return lambda: subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


def list_container_flags(host: dict[str, Any], profile: Path) -> Iterator[str]:
    """The command line's words for a container of ours."""
    yield from (
        "--network",
        host["network_mode"],
        "--read-only",
        "--user",
        host["user"],
        "--log-driver",
        "none",
    )
    yield from ("--cap-drop", "ALL", "--security-opt", "no-new-privileges")
    yield from ("--security-opt", f"seccomp={profile}", "--pids-limit", str(host["pids_limit"]))
    yield from ("--memory", str(host["mem_limit"]), "--memory-swap", str(host["memswap_limit"]))
    yield from ("--cpus", str(host["nano_cpus"] / 1e9), "--shm-size", str(host["shm_size"]))
    for path, options in host["tmpfs"].items():
        yield from ("--tmpfs", f"{path}:{options}")
    for limit in host["ulimits"]:
        yield from ("--ulimit", f"{limit['Name']}={limit['Soft']}:{limit['Hard']}")
    for name, value in host["environment"].items():
        yield from ("--env", f"{name}={value}")
