"""The backends under test, opened once. Bubblewrap wherever it works; Docker where COSQA_TEST_DOCKER is
set.
"""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from sandbox.pip_install import machine_settings
from sandbox.runner import Backend, Sandbox, SandboxUnavailable, open_sandbox
from tests.packages import shared
from tests.sizes import WHOLE


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """What takes minutes is collected only where it was asked for."""
    if WHOLE:
        return
    config.hook.pytest_deselected(items=[item for item in items if item.get_closest_marker("whole")])
    items[:] = [item for item in items if not item.get_closest_marker("whole")]


def _opened(backend: Backend, home: Path, forks: bool = False) -> Sandbox:
    environment, files = machine_settings(os.environ)
    return open_sandbox(
        backend,
        home,
        docker_host=os.environ.get("DOCKER_HOST", ""),
        pip_environment=environment,
        pip_files=files,
        forks=forks,
    )


def _missing(reason: str) -> None:
    if os.environ.get("CI") == "true":
        pytest.fail(f"{reason}; CI must have it")
    pytest.skip(reason)


@pytest.fixture(scope="session")
def home() -> Path:
    """A folder that the user whom root drops to can enter. It stays: what is in it is verified when used."""
    return shared()


@pytest.fixture(scope="session")
def bubblewrap(home: Path) -> Iterator[Sandbox]:
    if shutil.which("bwrap") is None:
        _missing("bubblewrap is not installed")
    try:
        sandbox = _opened("bubblewrap", home)
    except SandboxUnavailable as error:
        _missing(str(error))
    sandbox.install(())
    yield sandbox
    sandbox.close()


@pytest.fixture(scope="session")
def forked(bubblewrap: Sandbox, home: Path) -> Iterator[Sandbox]:
    """Bubblewrap's sandboxes, forked by a Python that is already running."""
    sandbox = _opened("bubblewrap", home, forks=True)
    yield sandbox
    sandbox.close()


@pytest.fixture(scope="session")
def docker(home: Path) -> Iterator[Sandbox]:
    if not os.environ.get("COSQA_TEST_DOCKER"):
        _missing("COSQA_TEST_DOCKER is not set")
    sandbox = _opened("docker", home)
    sandbox.install(())
    yield sandbox
    sandbox.close()


@pytest.fixture(params=["bubblewrap", "docker"])
def sandbox(request: pytest.FixtureRequest) -> Sandbox:
    opened: Sandbox = request.getfixturevalue(request.param)
    return opened
