"""The Docker backend, and the only door to the engine's SDK.

One container runs one program. Its main process is the harness, which waits for a request on its standard
input; a few such unused containers are kept ready, because starting one takes longer than most programs
run.
"""

import io
import json
import secrets
import threading
import time
from collections import deque
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

import docker
import requests
from docker.errors import APIError, DockerException, ImageNotFound, NotFound
from urllib3.exceptions import HTTPError

from sandbox.backends import containers
from sandbox.backends.checks import Check, docker_checks
from sandbox.backends.container_connection import Attached
from sandbox.backends.containers import LABEL, Shape
from sandbox.backends.execution import (
    GRACE_SECONDS,
    HarnessLost,
    NotStarted,
    Packages,
    Reply,
    Runner,
    longest_wall_seconds,
)
from sandbox.backends.layers import TARGET, hash_layer_key
from sandbox.backends.pool import Pool
from sandbox.backends.protections import ALL, Protection
from sandbox.backends.queue import Queue
from sandbox.backends.seccomp import docker_profile
from sandbox.dependencies import Requirement, vet_requirements
from sandbox.expression_call import Answer, Call
from sandbox.host_users import USERS, NoUserFree, find_unused_users, users_of_backend
from sandbox.pip_install import INSTALL_SECONDS, PipSettings, build_pip_arguments, diagnose_pip_failure
from sandbox.program import Limits, Program
from sandbox.protocol import SandboxUnavailable
from sandbox.reports.report import Report

_DEFAULT_HOST = "unix:///var/run/docker.sock"
_CALL_SECONDS = 30
_BUILD_STEP_SECONDS = 1800
"""A step of an image says nothing while its packages are installed."""
_LIFE_SECONDS = 1200.0
# So often a layer in use is verified, and told to those that evict: see `layers.IN_USE_SECONDS`.
_LAYER_SECONDS = 300.0
# The last one comes bare from a stream, such as that of an image that is built.
_ENGINE_ERRORS = (DockerException, requests.RequestException, OSError, HTTPError)


class DockerSandbox:
    """Programs in containers of their own. Raises SandboxUnavailable without an engine or the image.

    `pool` containers wait, ready for limits like those of the last run; 0 starts each one when it is needed.
    Each has a user of its own out of `users`.
    """

    name = "docker"

    def __init__(
        self,
        host: str,
        image: str,
        runtime: str,
        concurrency: int,
        pool: int,
        pip: PipSettings,
        protections: frozenset[Protection] = ALL,
        users: range = USERS,
    ) -> None:
        self._users = users_of_backend(users, self.name)
        self._protections = protections
        self._pip, self._runtime = pip, runtime
        self._seccomp = docker_profile()
        self._client = _connected(host, pool + 40)
        self._api = self._client.api
        self._image = image or containers.image_tag()
        self._image_id = self._found_image() or self._new_image(host, build=not image)
        # Names of the containers that are this sandbox's to remove; the reaper takes the others.
        self._held: set[str] = set()
        self._claims = threading.Lock()
        self._identity = secrets.token_hex(8)
        self._pool = Pool(pool, self._started, self._discard, _ENGINE_ERRORS)
        self._layers: dict[str, float] = {}
        self._runner = Runner(self.name, Queue(concurrency), False, self._packages, self._exchange)
        self.reap()

    @property
    def image(self) -> str:
        """The identity of what executes: it changes when the engine has another image of that name."""
        return f"docker:{self._image_id}"

    def run(self, program: Program, limits: Limits) -> Report:
        """See Sandbox.run."""
        return self._runner.run(program, limits)

    def call(self, call: Call, limits: Limits) -> Answer:
        """See Sandbox.call."""
        return self._runner.call(call, limits)

    def install(self, requirements: tuple[str, ...]) -> None:
        """See Sandbox.install; without requirements nothing is to be done: the image has the base."""
        if requirements:
            self._layer(requirements)

    def check(self) -> tuple[Check, ...]:
        """See Sandbox.check."""
        try:
            version, info = self._api.version(), self._api.info()
        except _ENGINE_ERRORS as error:
            raise SandboxUnavailable(f"the engine does not answer: {error}") from error
        return docker_checks(self.run, version, info, self._runtime)

    def reap(self) -> int:
        """Remove containers past their deadline, of dead callers, and those this sandbox lost sight of."""
        with suppress(*_ENGINE_ERRORS):
            # The image itself carries LABEL, and so does whatever else somebody runs from it.
            found = self._api.containers(all=True, filters={"label": f"{LABEL}.sandbox"})
            return sum(self._remove(container["Id"]) for container in found if self._is_left(container))
        # It does not answer: there is another round.
        return 0

    def close(self) -> None:
        """Remove the containers that wait; those of runs under way go when these end."""
        self._pool.close()
        self._client.close()

    def _is_left(self, container: Mapping[str, Any]) -> bool:
        mine = container["Labels"].get(f"{LABEL}.sandbox") == self._identity
        lost = mine and not any(name.lstrip("/") in self._held for name in container["Names"])
        return lost or containers.is_container_expired(container["Labels"])

    def _found_image(self) -> str:
        try:
            return str(self._client.images.get(self._image).id)
        except ImageNotFound:
            return ""

    def _new_image(self, host: str, build: bool) -> str:
        if not build:
            raise SandboxUnavailable(f"the engine has no image {self._image}: docker pull it")
        return build_image(host, self._pip)

    def _packages(self, program: Program) -> Packages:
        folders: dict[str, Path | None] = {"/packages": None}
        if program.dependencies:
            folders[f"/layers/{self._layer(program.dependencies)}"] = None
        return Packages(folders)

    def _layer(self, texts: tuple[str, ...]) -> str:
        wanted = vet_requirements(texts)
        name = hash_layer_key(self.image, self._pip.sources(), *map(str, wanted))
        if time.monotonic() - self._layers.get(name, -_LAYER_SECONDS) >= _LAYER_SECONDS:
            try:
                self._install(name, wanted)
            except _ENGINE_ERRORS as error:
                raise SandboxUnavailable(f"the engine failed while installing: {error}") from error
            self._layers[name] = time.monotonic()
        return name

    def _install(self, layer: str, wanted: tuple[Requirement, ...]) -> None:
        pip = build_pip_arguments(wanted, TARGET, self._pip, resolve=True)
        command = containers.install_command(layer, self._pip.layers_mb, pip)
        with self._install_container(layer, command) as identity:
            self._api.start(identity)
            try:
                status = self._api.wait(identity, timeout=INSTALL_SECONDS)["StatusCode"]
            except requests.RequestException as error:
                raise SandboxUnavailable(f"pip was not seen to end within {INSTALL_SECONDS} s") from error
            if status:
                raise diagnose_pip_failure(
                    wanted, self._api.logs(identity, tail=200).decode(errors="replace"), self._pip
                )

    @contextmanager
    def _install_container(self, layer: str, command: list[str]) -> Iterator[str]:
        """One container at a time for each layer: its name is the lock, for all callers of the engine."""
        deadline = time.monotonic() + INSTALL_SECONDS
        name = f"cosqa-sandbox-install-{layer}"
        while True:
            # Held before it is there, so that no reaper's round in between takes it for lost.
            self._held.add(name)
            try:
                self._api.create_container(
                    self._image_id,
                    command,
                    name=name,
                    user=containers.USER,
                    environment=containers.install_environment(self._pip.dated().environment),
                    labels=containers.build_container_labels(
                        "install", INSTALL_SECONDS + GRACE_SECONDS, self._identity
                    ),
                    host_config=self._api.create_host_config(
                        **containers.install_container(self._seccomp, self._pip.files, self._runtime)
                    ),
                )
                break
            except APIError as error:
                if error.status_code != requests.codes.conflict or time.monotonic() > deadline:
                    raise
                self.reap()
                time.sleep(0.2)
        try:
            yield name
        finally:
            self._remove(name)

    def _exchange(self, message: bytes, limits: Limits, packages: Packages, fresh: bool) -> Reply:
        container = self._taken(Shape.of(limits), fresh)
        try:
            return Reply(container.converse(message, longest_wall_seconds(limits) + GRACE_SECONDS))
        except HarnessLost:
            # The volume may be gone too: whether a layer is still there is asked again.
            self._layers.clear()
            if self._ran_out_of_memory(container.name):
                return Reply(b"", oom_kills=1)
            raise
        finally:
            self._pool.discard(container)

    def _taken(self, shape: Shape, fresh: bool) -> Attached:
        if self._pool.closed:
            raise SandboxUnavailable("this sandbox was closed")
        try:
            return self._pool.take(shape, fresh)
        except ImageNotFound as error:
            self._image_id = self._found_image() or self._image_id
            advice = f"the image {self._image} is gone: python -m sandbox images build"
            raise NotStarted(advice) from error
        except _ENGINE_ERRORS as error:
            raise NotStarted(f"the engine did not start a container: {error}") from error

    def _ran_out_of_memory(self, name: str) -> bool:
        """The kernel's word for a container that ended; the flag is set only when it has."""
        with suppress(*_ENGINE_ERRORS):
            self._api.wait(name, timeout=2)
            return bool(self._api.inspect_container(name)["State"]["OOMKilled"])
        return False

    def _started(self, shape: Shape) -> Attached:
        with ExitStack() as undo:
            name = self._created(shape)
            undo.callback(self._remove, name)
            # Attached before it starts: what a container printed before cannot be had without a log.
            wanted = {"stdin": 1, "stdout": 1, "stderr": 1, "stream": 1}
            attached = Attached(name, self._api.attach_socket(name, params=wanted))
            undo.callback(attached.close)
            self._api.start(name)
            undo.pop_all()
        return attached

    def _created(self, shape: Shape) -> str:
        """The name of a new container, which tells its user: the engine has no two of one name.

        What the engine makes after this call gave up is the reaper's: its name is no longer held.
        """
        for user in find_unused_users(self._users):
            name = f"cosqa-sandbox-run-{user}"
            if not self._claim(name):
                continue
            try:
                self._create(name, user, shape)
            except BaseException as error:
                self._held.discard(name)
                if isinstance(error, APIError) and error.status_code == requests.codes.conflict:
                    continue
                raise
            return name
        raise NoUserFree(self._users)

    def _claim(self, name: str) -> bool:
        """Hold the name before its container is there: a reaper must not take that for lost."""
        with self._claims:
            free = name not in self._held
            self._held.add(name)
        return free

    def _create(self, name: str, user: int, shape: Shape) -> None:
        self._api.create_container(
            self._image_id,
            containers.harness_command(),
            **containers.run_identity(user, self._runtime, self._protections),
            name=name,
            hostname="sandbox",
            working_dir="/tmp",
            stdin_open=True,
            labels=containers.build_container_labels("run", _LIFE_SECONDS, self._identity),
            host_config=self._api.create_host_config(
                **containers.run_container(shape, self._seccomp, self._runtime, self._protections)
            ),
        )

    def _discard(self, container: Attached) -> None:
        try:
            container.close()
        finally:
            self._remove(container.name)

    def _remove(self, name: str) -> bool:
        """Whether it is gone. What cannot be removed now is the reaper's."""
        self._held.discard(name)
        try:
            self._api.remove_container(name, force=True, v=True)
        except NotFound:
            return True
        except _ENGINE_ERRORS:
            return False
        return True


def build_image(host: str, pip: PipSettings) -> str:
    """Build the execution image and give its id; raises SandboxUnavailable with the engine's last words."""
    client = _connected(host, 4)
    tag = containers.image_tag()
    certificate = Path(pip.environment.get("PIP_CERT", ""))
    usable = certificate.is_file() and certificate in pip.files
    context = containers.build_context(certificate.read_bytes() if usable else b"")
    try:
        told = client.api.build(
            fileobj=io.BytesIO(context),
            custom_context=True,
            tag=tag,
            rm=True,
            forcerm=True,
            decode=True,
            buildargs=containers.build_arguments(pip, usable),
            labels={LABEL: "image"},
            timeout=_BUILD_STEP_SECONDS,
        )
        _watch_build(told)
        return str(client.images.get(tag).id)
    except _ENGINE_ERRORS as error:
        raise SandboxUnavailable(f"the execution image could not be built: {error}") from error
    finally:
        client.close()


def _watch_build(told: Iterator[Any]) -> None:
    last: deque[str] = deque(maxlen=8)
    for step in told:
        last.append(str(step.get("stream", "")).strip() or json.dumps(step)[:200])
        if "error" in step:
            raise SandboxUnavailable(
                f"the execution image could not be built: {' | '.join(filter(None, last))}"
            )


def _connected(host: str, connections: int) -> docker.DockerClient:
    try:
        client = docker.DockerClient(
            base_url=host or _DEFAULT_HOST, timeout=_CALL_SECONDS, max_pool_size=connections, version="auto"
        )
        client.ping()
    except _ENGINE_ERRORS as error:
        raise SandboxUnavailable(f"no Docker engine answers at {host or _DEFAULT_HOST}: {error}") from error
    return client
