"""Browsers that are logged in as the cast of `tests.factories`. Django is imported only where it is used."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

if TYPE_CHECKING:
    from django.test import Client

REPOSITORY = Path(__file__).resolve().parents[1]

# A slow moment of a shared machine is no fault of the code.
settings.register_profile("unhurried", deadline=None)
settings.load_profile("unhurried")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what touches the database that Django is configured with: only that need run on each of them."""
    for item in items:
        fixtures = set(getattr(item, "fixturenames", ()))
        if item.get_closest_marker("django_db") or fixtures & {"db", "transactional_db"}:
            item.add_marker("database")


@pytest.fixture(scope="session", autouse=True)
def static_files_are_found_when_asked_for() -> None:
    """Else each test client looks at all of them first, which takes longer than its requests."""
    from django.conf import settings

    settings.WHITENOISE_AUTOREFRESH = True


@pytest.fixture(scope="session")
def real_data() -> Path:
    """The folder of the real data sets, which stay outside the repository: COSQA_TEST_DATA.

    Without it the tests marked `real_data` skip; where CI=true they fail.
    """
    folder = Path(os.environ.get("COSQA_TEST_DATA", REPOSITORY.parent / "shared" / "data"))
    if not (folder / "cosqa").is_dir():
        reason = f"the real data are not in {folder}; set COSQA_TEST_DATA to their folder"
        if os.environ.get("CI") == "true":
            pytest.fail(reason)
        pytest.skip(reason)
    return folder


@pytest.fixture
def ada(db: None) -> Client:
    """An admin's browser."""
    return logged_in("ada")


@pytest.fixture
def erin(db: None) -> Client:
    """An expert's browser."""
    return logged_in("erin")


@pytest.fixture
def ray(db: None) -> Client:
    """A reader's browser."""
    return logged_in("ray")


@pytest.fixture
def nora(db: None) -> Client:
    """The browser of somebody without a role."""
    return logged_in("nora")


def logged_in(name: str) -> Client:
    from django.test import Client

    from tests import factories

    client = Client()
    client.force_login(
        {"ada": factories.ada, "erin": factories.erin, "ray": factories.ray, "nora": factories.nora}[name]()
    )
    return client
