"""The one way to run a program: a Sandbox, whatever stands behind it."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Literal

from sandbox.backends.bubblewrap import BubblewrapSandbox
from sandbox.dependencies import DependencyRefused
from sandbox.host_users import USERS
from sandbox.pip_install import PACKAGES_AS_OF, PipSettings
from sandbox.protocol import Check, Sandbox, SandboxUnavailable

__all__ = ["Backend", "Check", "DependencyRefused", "Sandbox", "SandboxUnavailable", "open_sandbox"]

Backend = Literal["auto", "docker", "bubblewrap", "none"]


def open_sandbox(
    backend: Backend,
    home: Path,
    *,
    docker_host: str = "",
    image: str = "",
    runtime: str = "",
    concurrency: int = 0,
    pool: int = 2,
    uid: int = 65534,
    users: range = USERS,
    pip_environment: Mapping[str, str] | None = None,
    pip_files: tuple[Path, ...] = (),
    uploaded_before: str = PACKAGES_AS_OF,
    undated: bool = False,
    layers_mb: int = 10_240,
    forks: bool = False,
) -> Sandbox:
    """Open a backend that works here; raises SandboxUnavailable, which says what to install.

    `auto` prefers bubblewrap and falls back to Docker. `home` keeps package folders and dependency layers.
    `concurrency` bounds starts (0: one for each core). `pip_environment` (PIP_INDEX_URL, PIP_CERT …) and
    `pip_files` (folders and files that pip needs) reach the install sandbox alone; `uploaded_before` is an
    ISO date, "" for none: what was uploaded later, or nobody knows when, is not installed; with `undated`
    files of local folders and indexes are. `layers_mb` caps what stays installed.
    `pool` sandboxes are made ahead. As root, and with Docker, each has a user of its own out of `users`; root
    installs packages as `uid`. `docker_host`, `image` (default: built from sandbox/image) and `runtime`
    concern Docker only. With `forks` bubblewrap's sandboxes are forked, which is several times as fast.
    """
    pip = PipSettings(dict(pip_environment or {}), pip_files, uploaded_before, undated, layers_mb)
    bubblewrap = partial(BubblewrapSandbox, home, concurrency, pool, uid, pip, users=users, forks=forks)
    docker = partial(open_docker, docker_host, image, runtime, concurrency, pool, pip, users)
    openers: Mapping[Backend, Sequence[Callable[[], Sandbox]]] = {
        "auto": (bubblewrap, docker),
        "bubblewrap": (bubblewrap,),
        "docker": (docker,),
        "none": (),
    }
    return first_that_opens(openers[backend])


def open_docker(
    host: str, image: str, runtime: str, concurrency: int, pool: int, pip: PipSettings, users: range
) -> Sandbox:
    """Raises SandboxUnavailable."""
    # The engine's SDK is loaded only where it is used: it takes longer than a run.
    from sandbox.backends.docker import DockerSandbox

    return DockerSandbox(host, image, runtime, concurrency, pool, pip, users=users)


def first_that_opens(openers: Sequence[Callable[[], Sandbox]]) -> Sandbox:
    """Raises SandboxUnavailable with what each says; without any, executing is switched off."""
    problems = []
    for opener in openers:
        try:
            return opener()
        except SandboxUnavailable as error:
            problems.append(str(error))
    raise SandboxUnavailable("; ".join(problems) or "executing programs is switched off")
