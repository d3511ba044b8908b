import os
import zipfile
from pathlib import Path

import pytest

from sandbox.dependencies import DependencyRefused, Requirement
from sandbox.installing import PipSettings, arguments, failure, machine_settings, pinned
from sandbox.modules import normal
from sandbox.program import Limits, Program
from sandbox.protocol import SandboxUnavailable
from sandbox.report import Outcome
from sandbox.runner import Backend, Sandbox, open_sandbox

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
    words = arguments(SIX, "/target", PipSettings(uploaded_before="2026-11-01"), resolve=True)
    assert {"--only-binary=:all:", "--uploaded-prior-to=2026-11-01"} < set(words)
    assert words[words.index("--") :] == ["--", "six"]
    assert not any("uploaded" in word for word in arguments(SIX, "/t", PipSettings(), resolve=True))


@pytest.mark.parametrize(
    ("output", "kind", "told"),
    [
        ("ERROR: No matching distribution found for six", DependencyRefused, "no wheel to install for six"),
        (
            "ERROR: Index https://i.example.org/six/ does not provide upload-time metadata.",
            DependencyRefused,
            "the index does not tell",
        ),
        ("ERROR: ProxyError … No matching distribution found", SandboxUnavailable, "installing six failed"),
        ("Killed", SandboxUnavailable, "Killed"),
    ],
)
def test_what_a_failed_install_means(output: str, kind: type[Exception], told: str) -> None:
    found = failure(SIX, output, PipSettings())
    assert type(found) is kind and told in str(found)


def test_the_log_says_what_to_set_and_the_message_is_the_same_everywhere(
    caplog: pytest.LogCaptureFixture,
) -> None:
    missing = "ERROR: No matching distribution found for six"
    plain = failure(SIX, missing, PipSettings(LOCAL))
    assert caplog.text == ""
    skipping = failure(SIX, missing, PipSettings(LOCAL, uploaded_before="2026-11-01"))
    assert str(skipping) == str(plain)
    assert "COSQA_PIP_UNDATED" in caplog.text


def test_the_images_packages_are_pinned_once_each() -> None:
    names = [normal(one.name) for one in pinned()]
    assert len(set(names)) == len(names)
    assert all(one.version for one in (*pinned(), *pinned("installer.txt")))


def opened(backend: Backend, home: Path, **settings: object) -> Sandbox:
    environment, files = machine_settings(os.environ)
    return open_sandbox(
        backend,
        home,
        docker_host=os.environ.get("DOCKER_HOST", ""),
        pool=0,
        **{"pip_environment": environment, "pip_files": files, **settings},  # type: ignore[arg-type]
    )


def local_index(folder: Path) -> Path:
    """A folder with one wheel, made by hand: no index tells when it was uploaded."""
    wheel = folder / "cosqa_local-1.0-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("cosqa_local.py", "ANSWER = 42\n")
        archive.writestr("evil.pth", "import os; os.system('touch /tmp/planted')\n")
        information = "cosqa_local-1.0.dist-info"
        archive.writestr(
            f"{information}/METADATA", "Metadata-Version: 2.1\nName: cosqa-local\nVersion: 1.0\n"
        )
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
