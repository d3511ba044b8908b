import base64
import contextlib
import http.server
import io
import ipaddress
import os
import threading
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from sandbox.backends.containers import build_arguments, image_tag
from sandbox.dependencies import DependencyRefused, Requirement
from sandbox.package_names import normalize_distribution_name
from sandbox.pip_install import (
    PipSettings,
    build_pip_arguments,
    diagnose_pip_failure,
    load_pinned_requirements,
    machine_settings,
)
from sandbox.program import Limits, Program
from sandbox.protocol import SandboxUnavailable
from sandbox.reports.report import Outcome
from sandbox.runner import Backend, Sandbox, open_sandbox
from tests.sandbox.engines import real_host

LOCAL = {
    "PIP_EXTRA_INDEX_URL": "file:///opt/index https://index.example.org/simple",
    "PIP_FIND_LINKS": "/opt/wheels",
    "PIP_CERT": "/etc/ssl/ca.crt",
}
SIX = (Requirement("six"),)


def test_local_sources_are_not_asked_where_a_date_is_wanted() -> None:
    settings = PipSettings(LOCAL, uploaded_before="2026-11-01")
    assert settings.skips()
    assert settings.dated().environment == {
        "PIP_EXTRA_INDEX_URL": "https://index.example.org/simple",
        "PIP_CERT": "/etc/ssl/ca.crt",
    }


def test_an_index_that_is_local_alone_leaves_none() -> None:
    settings = PipSettings({"PIP_INDEX_URL": "file:///opt/index"}, uploaded_before="2026-11-01")
    assert settings.dated().environment == {"PIP_NO_INDEX": "1"}


@pytest.mark.parametrize(
    "settings",
    [PipSettings(LOCAL), PipSettings(LOCAL, uploaded_before="2026-11-01", undated=True)],
    ids=["no date", "undated allowed"],
)
def test_local_sources_are_asked_otherwise(settings: PipSettings) -> None:
    assert settings.dated() == settings and not settings.skips()


def test_credentials_neither_name_a_layer_nor_stand_in_a_message() -> None:
    address = "https://{}index.example.org/simple"
    settings = PipSettings(
        {"PIP_INDEX_URL": address.format("robot:p%40ss@"), "HTTPS_PROXY": "http://token@proxy:3128"}
    )
    assert settings.sources() == PipSettings({"PIP_INDEX_URL": address.format("")}).sources()
    output = (
        "ERROR: robot:p@ss, robot:p%40ss and token were refused by https://robot:p%40ss@index.example.org"
    )
    told = str(diagnose_pip_failure(SIX, output, settings))
    assert "refused by https://****@index.example.org" in told
    assert not any(secret in told for secret in ("p@ss", "p%40ss", "token"))


def test_what_decides_the_files_names_the_layer() -> None:
    usual = PipSettings(LOCAL, uploaded_before="2026-11-01")
    others = (
        PipSettings(LOCAL),
        PipSettings(LOCAL, uploaded_before="2026-10-01"),
        PipSettings(LOCAL, uploaded_before="2026-11-01", undated=True),
        PipSettings({}, uploaded_before="2026-11-01"),
    )
    assert len({one.sources() for one in (usual, *others)}) == 5
    certified = PipSettings({**LOCAL, "PIP_CERT": "/other.crt"}, uploaded_before="2026-11-01")
    assert certified.sources() == usual.sources()


def test_pip_gets_wheels_names_and_the_date_alone() -> None:
    words = build_pip_arguments(SIX, "/target", PipSettings(uploaded_before="2026-11-01"), resolve=True)
    assert {"--only-binary=:all:", "--uploaded-prior-to=2026-11-01"} < set(words)
    assert words[words.index("--") :] == ["--", "six"]
    assert not any("uploaded" in word for word in build_pip_arguments(SIX, "/t", PipSettings(), resolve=True))


@pytest.mark.parametrize(
    ("output", "kind", "told"),
    [
        ("ERROR: No matching distribution found for six", DependencyRefused, "no wheel to install for six"),
        (
            "ERROR: Index https://i.example.org/six/ does not provide upload-time metadata.",
            DependencyRefused,
            "the index does not tell",
        ),
        (
            "ERROR: other is wanted from an address",
            DependencyRefused,
            "six needs other from an address, not from an index",
        ),
        ("ERROR: ProxyError … No matching distribution found", SandboxUnavailable, "installing six failed"),
        ("Killed", SandboxUnavailable, "Killed"),
    ],
)
def test_what_a_failed_install_means(output: str, kind: type[Exception], told: str) -> None:
    found = diagnose_pip_failure(SIX, output, PipSettings())
    assert type(found) is kind and told in str(found)


def test_the_log_says_what_to_set_and_the_message_is_the_same_everywhere(
    caplog: pytest.LogCaptureFixture,
) -> None:
    missing = "ERROR: No matching distribution found for six"
    plain = diagnose_pip_failure(SIX, missing, PipSettings(LOCAL))
    assert caplog.text == ""
    skipping = diagnose_pip_failure(SIX, missing, PipSettings(LOCAL, uploaded_before="2026-11-01"))
    assert str(skipping) == str(plain)
    assert "COSQA_PIP_UNDATED" in caplog.text


def test_the_images_packages_are_pinned_once_each() -> None:
    names = [normalize_distribution_name(one.name) for one in load_pinned_requirements()]
    assert len(set(names)) == len(names)
    assert all(
        one.version for one in (*load_pinned_requirements(), *load_pinned_requirements("installer.txt"))
    )


def opened(backend: Backend, home: Path, **settings: object) -> Sandbox:
    environment, files = machine_settings(os.environ)
    return open_sandbox(
        backend,
        home,
        docker_host=os.environ.get("DOCKER_HOST", ""),
        pool=0,
        **{"pip_environment": environment, "pip_files": files, **settings},  # type: ignore[arg-type]
    )


def local_index(folder: Path, name: str = "cosqa_local", *wanted: str) -> Path:
    """A folder with one wheel, made by hand: no index tells when it was uploaded."""
    wheel = folder / f"{name}-1.0-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr(f"{name}.py", "ANSWER = 42\n")
        archive.writestr("evil.pth", "import os; os.system('touch /tmp/planted')\n")
        information = f"{name}-1.0.dist-info"
        lines = ["Metadata-Version: 2.1", f"Name: {name}", "Version: 1.0"]
        lines += [f"Requires-Dist: {one}" for one in wanted]
        archive.writestr(f"{information}/METADATA", "\n".join([*lines, ""]))
        archive.writestr(
            f"{information}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        archive.writestr(f"{information}/RECORD", "")
    wheel.chmod(0o644)
    return folder


def wants(module: str, *dependencies: str) -> Program:
    source = f"import {module}, os\nassert not os.path.exists('/tmp/planted')\nassert f(1) == 1\n"
    return Program("def f(x):\n    return x\n", source, dependencies)


BACKENDS = pytest.mark.parametrize(
    "backend", ["bubblewrap", pytest.param("docker", marks=pytest.mark.docker)]
)


@BACKENDS
def test_a_wheel_of_the_machines_index_is_installed_and_imported(
    backend: Backend, home: Path, request: pytest.FixtureRequest
) -> None:
    """Through pip as it is set up here: index, certificates, proxies."""
    sandbox: Sandbox = request.getfixturevalue(backend)
    report = sandbox.run(wants("inflection", "inflection==0.5.1"), Limits())
    assert (report.outcome, report.detail) == (Outcome.PASSED, "")


@BACKENDS
def test_a_file_without_a_date_is_refused_unless_allowed(
    backend: Backend, home: Path, request: pytest.FixtureRequest
) -> None:
    request.getfixturevalue(backend)
    index = local_index(home)
    local: dict[str, object] = {
        "pip_environment": {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(index)},
        "pip_files": (index,),
    }
    program = wants("cosqa_local", "cosqa-local==1.0")
    strict = opened(backend, home, **local).run(program, Limits())
    assert strict.outcome is Outcome.DEPENDENCY_REFUSED
    allowed = opened(backend, home, undated=True, **local).run(program, Limits())
    assert (allowed.outcome, allowed.detail) == (Outcome.PASSED, "")


@BACKENDS
def test_what_nobody_offers_is_refused_and_leaves_nothing(
    backend: Backend, request: pytest.FixtureRequest
) -> None:
    sandbox: Sandbox = request.getfixturevalue(backend)
    report = sandbox.run(wants("six", "cosqa-no-such-distribution==99.0"), Limits())
    assert report.outcome is Outcome.DEPENDENCY_REFUSED


@contextlib.contextmanager
def listening(backend: Backend) -> Iterator[tuple[str, list[tuple[str, str, str]]]]:
    """A server that has nothing, as the backend reaches it, and what it saw when it was asked.

    That is the path, the credentials, and the command lines of all processes of this machine.
    """
    seen: list[tuple[str, str, str]] = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            seen.append((self.path, self.headers.get("Authorization", ""), command_lines()))
            self.send_error(404)

        def log_message(self, *given: object) -> None:
            pass

    with http.server.ThreadingHTTPServer((gateway(backend), 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"{gateway(backend)}:{server.server_port}", seen
        finally:
            server.shutdown()
            thread.join()


def gateway(backend: Backend) -> str:
    """The address of this machine for an installation."""
    if backend == "bubblewrap":
        return "127.0.0.1"
    import docker

    with contextlib.closing(docker.DockerClient(base_url=real_host())) as client:
        (config, *_) = client.networks.get("bridge").attrs["IPAM"]["Config"]
    # Not every engine tells it: then it is the network's first address.
    return str(config.get("Gateway") or next(ipaddress.ip_network(config["Subnet"]).hosts()))


def command_lines() -> str:
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            found.append(path.read_text(errors="replace"))
    return "\n".join(found)


@BACKENDS
@pytest.mark.parametrize("kind", ["http://{}/cosqa_other-1.0.tar.gz", "git+http://{}/cosqa-other"])
def test_a_dependency_from_an_address_is_refused_before_it_is_fetched(
    kind: str, backend: Backend, home: Path, request: pytest.FixtureRequest
) -> None:
    request.getfixturevalue(backend)
    with listening(backend) as (address, seen):
        index = local_index(home, "cosqa_direct", f"cosqa-other @ {kind.format(address)}")
        local: dict[str, object] = {
            "pip_environment": {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(index)},
            "pip_files": (index,),
            "undated": True,
        }
        report = opened(backend, home, **local).run(wants("cosqa_direct", "cosqa-direct"), Limits())
    assert report.outcome is Outcome.DEPENDENCY_REFUSED
    assert report.detail == "cosqa-direct needs cosqa-other from an address, not from an index"
    assert seen == []


@BACKENDS
def test_credentials_of_an_index_reach_pip_and_stand_in_no_process_list(
    backend: Backend, home: Path, request: pytest.FixtureRequest
) -> None:
    request.getfixturevalue(backend)
    with listening(backend) as (address, seen):
        settings: dict[str, object] = {
            "pip_environment": {
                "PIP_INDEX_URL": f"http://robot:SECRETWORD@{address}/simple",
                "PIP_TRUSTED_HOST": address,
                "PIP_RETRIES": "0",
            },
            "uploaded_before": "",
        }
        report = opened(backend, home, **settings).run(wants("cosqa_direct", "cosqa-direct"), Limits())
    assert report.outcome is Outcome.DEPENDENCY_REFUSED and "SECRETWORD" not in report.to_json()
    (path, credentials, processes), *_ = seen
    assert path == "/simple/cosqa-direct/"
    assert base64.b64decode(credentials.removeprefix("Basic ")) == b"robot:SECRETWORD"
    assert "--only-binary=:all:" in processes and "SECRETWORD" not in processes


@pytest.mark.docker
def test_the_engine_keeps_what_an_image_is_built_with_out_of_its_history(docker: Sandbox) -> None:
    import docker as sdk

    given = build_arguments(PipSettings({"PIP_INDEX_URL": "http://robot:SECRETWORD@index"}), False)
    text = f"FROM {image_tag()}\nRUN echo $FTP_PROXY | grep -q SECRETWORD\n"
    with contextlib.closing(sdk.DockerClient(base_url=real_host())) as client:
        image, _ = client.images.build(fileobj=io.BytesIO(text.encode()), buildargs=given, rm=True)
        told = str(image.history()) + str(image.attrs)
        client.images.remove(str(image.id))
    assert "grep" in told and "SECRETWORD@" not in told and "robot" not in told
