"""What the Docker backend says and leaves when its engine fails, on a proxy before the real one."""

import contextlib
import gc
import io
import os
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import docker as sdk
import pytest
from urllib3.exceptions import ReadTimeoutError

from sandbox.backends import containers
from sandbox.backends import docker as docker_backend
from sandbox.backends.containers import LABEL
from sandbox.backends.docker import DockerSandbox
from sandbox.pip_install import PipSettings, machine_settings
from sandbox.program import Limits, Program
from sandbox.protocol import SandboxUnavailable
from sandbox.reports.report import Outcome, Report
from sandbox.runner import Sandbox, open_sandbox
from tests.packages import shared
from tests.sandbox.engines import Proxy, real_host

pytestmark = pytest.mark.docker
SQUARE = "def f(x):\n    return x * x\n"
GOOD = Program(SQUARE, "assert f(3) == 9\n")
SLOW = Program(SQUARE, "import time\ntime.sleep(1)\nassert f(3) == 9\n")
LIMITS = Limits(seconds=5)


@pytest.fixture
def proxy(docker: Sandbox, tmp_path: Path) -> Iterator[Proxy]:
    """In use only where an engine is; `docker` says so."""
    made = Proxy(tmp_path)
    yield made
    made.down()
    gc.collect()


def _opened(host: str, image: str = "", runtime: str = "", pool: int = 0) -> DockerSandbox:
    return DockerSandbox(host, image, runtime, concurrency=4, pool=pool, pip=PipSettings())


@pytest.fixture
def client(docker: Sandbox) -> Iterator[sdk.DockerClient]:
    with contextlib.closing(sdk.DockerClient(base_url=real_host())) as opened:
        yield opened


def _left(client: sdk.DockerClient, sandbox: DockerSandbox) -> list[str]:
    """The containers of this sandbox that are still there after a while."""
    wanted = {"label": f"{LABEL}.sandbox={sandbox._identity}"}
    deadline = time.monotonic() + 60
    while (found := client.api.containers(all=True, filters=wanted)) and time.monotonic() < deadline:
        time.sleep(0.05)
    return [one["Names"][0] for one in found]


def _is_retryable(report: Report, *words: str) -> bool:
    told = report.detail
    return (
        report.outcome is Outcome.UNAVAILABLE and "ry again" in told and all(word in told for word in words)
    )


def test_it_works_again_when_the_engine_is_back(proxy: Proxy, client: sdk.DockerClient) -> None:
    opened = _opened(proxy.host, pool=2)
    assert opened.run(GOOD, LIMITS).outcome is Outcome.PASSED
    proxy.down()
    assert _is_retryable(opened.run(GOOD, LIMITS), "the program was not run")
    assert opened.reap() == 0
    proxy.up()
    # What waited was lost with the connection: nobody is given it.
    assert [opened.run(GOOD, LIMITS).outcome for _ in range(3)] == [Outcome.PASSED] * 3
    opened.reap()
    opened.close()
    assert _left(client, opened) == []


def test_a_connection_that_is_cut_once_costs_nothing_but_time(proxy: Proxy, client: sdk.DockerClient) -> None:
    opened = _opened(proxy.host)
    cut = threading.Timer(0.8, proxy.cut)
    cut.start()
    assert opened.run(SLOW, LIMITS).outcome is Outcome.PASSED
    cut.join()
    opened.close()
    assert _left(client, opened) == []


def test_a_sandbox_that_is_lost_again_and_again_gives_no_verdict(proxy: Proxy) -> None:
    opened, done = _opened(proxy.host), threading.Event()

    def cuts() -> None:
        while not done.wait(0.4):
            proxy.cut()

    thread = threading.Thread(target=cuts)
    thread.start()
    report = opened.run(SLOW, LIMITS)
    done.set()
    thread.join()
    opened.close()
    assert report.outcome is Outcome.UNAVAILABLE and not report.outcome.is_evidence


@pytest.mark.parametrize("request_line", ["/containers/create", "/start"])
def test_an_engine_that_fails_is_quoted(request_line: str, proxy: Proxy, client: sdk.DockerClient) -> None:
    opened = _opened(proxy.host, pool=1)
    proxy.fail(f"POST .*{request_line}", "no space left on device")
    assert _is_retryable(opened.run(GOOD, LIMITS), "no space left on device")
    proxy.up()
    assert opened.run(GOOD, LIMITS).outcome is Outcome.PASSED
    opened.close()
    assert _left(client, opened) == []


@pytest.mark.parametrize("request_line", ["/containers/create", "/start"])
def test_what_the_engine_does_after_nobody_waits_for_it_is_found(
    request_line: str, proxy: Proxy, client: sdk.DockerClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened = _opened(proxy.host)
    monkeypatch.setattr(opened._api, "timeout", 1)  # of this call; a busy engine answers others later
    proxy.mute(f"POST .*{request_line}")
    assert _is_retryable(opened.run(GOOD, LIMITS), "timed out")
    monkeypatch.undo()
    proxy.up()
    opened.reap()
    assert _left(client, opened) == []
    assert opened.run(GOOD, LIMITS).outcome is Outcome.PASSED
    opened.close()


def _image(client: sdk.DockerClient, tag: str) -> None:
    text = f"FROM {containers.image_tag()}\nLABEL made={time.time()}\n"
    client.images.build(fileobj=io.BytesIO(text.encode()), tag=tag)


def test_an_image_that_is_gone_is_named_and_used_again_when_it_is_back(client: sdk.DockerClient) -> None:
    tag = f"cosqa-sandbox-test:removed-{os.getpid()}"
    _image(client, tag)
    opened = _opened(real_host(), image=tag)
    before = opened.image
    assert opened.run(GOOD, LIMITS).outcome is Outcome.PASSED
    assert _left(client, opened) == []
    client.images.remove(tag)
    report = opened.run(GOOD, LIMITS)
    assert _is_retryable(report, f"the image {tag} is gone", "python -m sandbox images build")
    _image(client, tag)
    assert opened.run(GOOD, LIMITS).outcome is Outcome.PASSED
    assert opened.image != before
    opened.close()
    assert _left(client, opened) == []
    client.images.remove(tag)


def test_a_runtime_that_the_engine_does_not_know_is_named() -> None:
    opened = _opened(real_host(), runtime="no-such-runtime")
    assert _is_retryable(opened.run(GOOD, LIMITS), "no-such-runtime")
    opened.close()


def test_closing_under_load_leaves_no_container(client: sdk.DockerClient) -> None:
    opened = _opened(real_host(), pool=2)
    with ThreadPoolExecutor(6) as threads:
        runs = [threads.submit(opened.run, GOOD, LIMITS) for _ in range(12)]
        runs[3].result()
        opened.close()
        outcomes = {run.result().outcome for run in runs}
    assert outcomes <= {Outcome.PASSED, Outcome.UNAVAILABLE}
    assert _left(client, opened) == []


def test_a_container_that_its_sandbox_lost_sight_of_is_the_reapers(client: sdk.DockerClient) -> None:
    opened = _opened(real_host())
    labels = containers.build_container_labels("run", 600, opened._identity)
    client.containers.create(containers.image_tag(), labels=labels)
    assert opened.reap() >= 1 and _left(client, opened) == []
    opened.close()


def test_what_else_somebody_runs_from_the_image_is_not_the_reapers(client: sdk.DockerClient) -> None:
    other = client.containers.create(containers.image_tag())
    opened = _opened(real_host())
    opened.reap()
    opened.close()
    other.reload()  # raises NotFound where it is gone
    other.remove()


def test_an_installation_that_is_just_beginning_is_not_reaped(
    docker: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert isinstance(docker, DockerSandbox)
    whole = docker._api.create_container

    def created_and_reaped(*given: Any, **named: Any) -> Any:
        made = whole(*given, **named)
        docker.reap()
        return made

    monkeypatch.setattr(docker._api, "create_container", created_and_reaped)
    docker.install(("inflection==0.5.1",))


INFLECTED = Program(
    "import inflection\n\n\ndef f(x):\n    return inflection.pluralize(x)\n",
    'assert f("query") == "queries"\n',
    ("inflection==0.5.1",),
)


class Volume:
    """A volume for layers that is nobody else's, and what somebody with rights on the engine does to it."""

    def __init__(self, client: sdk.DockerClient, name: str) -> None:
        self._client, self.name = client, name

    def opened(self, layers_mb: int) -> Sandbox:
        environment, files = machine_settings(os.environ)
        return open_sandbox(
            "docker",
            shared(),
            docker_host=real_host(),
            pool=0,
            pip_environment=environment,
            pip_files=files,
            layers_mb=layers_mb,
        )

    def have(self, script: str) -> str:
        """What a Python script prints whose working folder is the volume."""
        told: bytes = self._client.containers.run(
            containers.image_tag(),
            ["python3", "-c", f"import os, pathlib, shutil\nos.chdir('/layers')\n{script}"],
            user="0:0",
            volumes={self.name: {"bind": "/layers", "mode": "rw"}},
            remove=True,
        )
        return told.decode().strip()


@pytest.fixture
def volume(docker: Sandbox, client: sdk.DockerClient, monkeypatch: pytest.MonkeyPatch) -> Iterator[Volume]:
    name = f"cosqa-sandbox-test-{os.getpid()}"
    monkeypatch.setattr(containers, "LAYERS_VOLUME", name)
    yield Volume(client, name)
    client.volumes.get(name).remove(force=True)


def test_a_layer_that_was_changed_in_the_volume_is_made_again(volume: Volume) -> None:
    with contextlib.closing(volume.opened(100)) as first:
        assert first.run(INFLECTED, LIMITS).outcome is Outcome.PASSED
    volume.have("next(pathlib.Path().glob('*/inflection/__init__.py')).write_text('pluralize = str.upper')")
    with contextlib.closing(volume.opened(100)) as second:
        assert second.run(INFLECTED, LIMITS).outcome is Outcome.PASSED


def test_a_layer_that_is_gone_from_the_volume_is_made_again(volume: Volume) -> None:
    with contextlib.closing(volume.opened(100)) as opened:
        assert opened.run(INFLECTED, LIMITS).outcome is Outcome.PASSED
        volume.have("for one in pathlib.Path().iterdir(): shutil.rmtree(one)")
        assert opened.run(INFLECTED, LIMITS).outcome is Outcome.PASSED


def test_the_volume_keeps_below_its_cap_what_was_used_last(volume: Volume) -> None:
    with contextlib.closing(volume.opened(1)) as opened:
        opened.install(("inflection==0.5.1",))
        before = volume.have("print(next(pathlib.Path('.marks').iterdir()).name)")
        with pytest.raises(SandboxUnavailable, match="packages do not fit"):
            opened.install(("pyparsing==3.1.4",))
        volume.have(f"os.utime('.marks/{before}', (0, 0))")
        opened.install(("pyparsing==3.1.4",))
    assert volume.have(f"print(os.path.exists('{before}'))") == "False"
    assert volume.have("print(len(list(pathlib.Path('.marks').iterdir())))") == "1"


def test_without_an_engine_it_says_where_it_looked(tmp_path: Path) -> None:
    with pytest.raises(SandboxUnavailable, match=f"no Docker engine answers at unix://{tmp_path}/none"):
        _opened(f"unix://{tmp_path}/none")


def test_an_engine_that_goes_silent_while_the_image_is_built_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def steps(**_: object) -> Iterator[dict[str, str]]:
        yield {"stream": "Step 1/9"}
        raise ReadTimeoutError(None, None, "Read timed out.")  # type: ignore[arg-type]

    client = SimpleNamespace(api=SimpleNamespace(build=steps), close=lambda: None)
    monkeypatch.setattr(docker_backend, "_connected", lambda *_: client)
    with pytest.raises(SandboxUnavailable, match=r"could not be built.*Read timed out"):
        docker_backend.build_image("", PipSettings())
