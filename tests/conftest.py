"""Browsers that are logged in as the cast of `tests.factories`. Django is imported only where it is used."""

from __future__ import annotations

import gc
import os
from collections.abc import Generator, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings

if TYPE_CHECKING:
    from django.core.management.color import Style
    from django.db.backends.base.operations import BaseDatabaseOperations
    from django.test import Client

pytest_plugins = ["tests.progress"]

REPOSITORY = Path(__file__).resolve().parents[1]

# Before torch and faiss are loaded: while their threads wait they need not keep a processor busy, as files of
# tests run side by side.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

# A slow moment of a shared machine is no fault of the code. EXAMPLES=500 draws more where a law is new.
EXAMPLES = int(os.environ.get("EXAMPLES", "40"))
settings.register_profile(
    "unhurried", deadline=None, suppress_health_check=[HealthCheck.too_slow], max_examples=EXAMPLES
)
settings.load_profile("unhurried")


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """What collecting tests makes stays to the end, so that nobody need look whether it is garbage."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()
        gc.collect()
        gc.freeze()


LONGEST_FIRST = """
    faults/test_survival_of_builds retrieval/test_real_data site/test_raters site/test_serve
    site/test_untrusted_python site/test_sample site/test_leaks_moments
    sandbox/backends/test_protections sandbox/test_hostile sandbox/test_verdicts sandbox/test_backends
    sandbox/test_honest bench/review/test_latency site/test_leaks sandbox/backends/test_docker
    site/test_access sandbox/test_expression_call annotation/jobs/test_celery_tasks
    sandbox/test_hostile_cases annotation/builds/test_live_build annotation/builds/drift/test_live_drift
    bench/pipeline/test_throughput sandbox/test_survival site/test_real_build
    annotation/stats/agreement/test_simulated
"""
"""Files whose tests take long. Begun late, one would keep a core busy when the others have nothing left."""


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> Generator[None]:
    """Mark what touches the database that Django is configured with: only that need run on each of them.

    That is before others choose by marks; the longest files come first after others have drawn the order.
    """
    for item in items:
        fixtures = set(getattr(item, "fixturenames", ()))
        if item.get_closest_marker("django_db") or fixtures & {"db", "transactional_db"}:
            item.add_marker("database")
        if is_among(item, ALIKE):
            item.add_marker("alike")
        if lasts_long(item, fixtures):
            item.add_marker("slow")
    yield
    places = {REPOSITORY / "tests" / f"{name}.py": place for place, name in enumerate(LONGEST_FIRST.split())}
    items.sort(key=lambda item: places.get(item.path, len(places)))


ALIKE = """
    annotation/derived/rerun/test_again_command annotation/studies/test_agreement_command
    annotation/studies/test_command retrieval/management/commands
    site/test_account site/test_accounts site/test_body_limits site/test_commands site/test_errors
    site/test_llm_command site/test_log_in site/test_notify_command site/test_openapi_snapshot
    site/test_passwords site/test_prefix site/test_sample_study site/test_server site/test_shell
    site/test_single_sign_on site/test_terms
"""
"""Commands, log-ins and limits: what they call is asked on each database by tests of its own."""


PROCESSES = """
    bench faults sandbox/backends sandbox/harness retrieval/encoders retrieval/training
    site/test_compose site/test_light_commands site/test_manage site/test_settings
"""
"""Folders and files whose tests start sandboxes or processes, or load torch."""


def lasts_long(item: pytest.Item, fixtures: set[str]) -> bool:
    """Whether `make quick` leaves a test out: a long file, a sandbox, real data, processes, commits."""
    path = path_in_tests(item)
    inside = path.is_relative_to("sandbox") and fixtures & {"sandbox", "bubblewrap", "docker", "home"}
    long = path.as_posix() in LONGEST_FIRST.split()
    marked = any(item.get_closest_marker(name) for name in ("real_data", "postgres", "docker"))
    commits = "transactional_db" in fixtures or _commits(item)
    return bool(inside or long or marked or commits or is_among(item, PROCESSES))


def path_in_tests(item: pytest.Item) -> Path:
    """Without its suffix, as the lists above name files."""
    return item.path.relative_to(REPOSITORY / "tests").with_suffix("")


def is_among(item: pytest.Item, places: str) -> bool:
    """Whether a test lies in one of the files or folders of a list."""
    return any(map(path_in_tests(item).is_relative_to, places.split()))


def _commits(item: pytest.Item) -> bool:
    marker = item.get_closest_marker("django_db")
    return bool(marker and marker.kwargs.get("transaction"))


@pytest.fixture(scope="session", autouse=True)
def static_files_are_found_when_asked_for() -> None:
    """Else each test client looks at all of them first, which takes longer than its requests."""
    from django.conf import settings

    settings.WHITENOISE_AUTOREFRESH = True


@pytest.fixture(autouse=True)
def no_disk_was_full_before(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a process learned of its disk is forgotten."""
    from annotation.builds.limits import full_disk

    monkeypatch.setattr(full_disk, "gate", full_disk.Gate())


@pytest.fixture(scope="session", autouse=True)
def passwords_are_hashed_quickly() -> None:
    """It is slow on purpose; the form of the hashes, which say themselves how often, stays the same."""
    from django.contrib.auth.hashers import PBKDF2PasswordHasher

    PBKDF2PasswordHasher.iterations = 1


@pytest.fixture(scope="session", autouse=True)
def certificates_are_read_once() -> None:
    """A client reads all that the machine trusts: that takes longer than most tests, and they speak HTTP."""
    import httpcore2

    httpcore2.default_ssl_context = cache(httpcore2.default_ssl_context)


FILLED_BY_MIGRATE = frozenset({"django_content_type", "auth_permission"})
"""What Django would write anew after each test that commits: it says what models there are."""


@pytest.fixture(scope="session", autouse=True)
def tables_are_emptied_row_by_row() -> None:
    """After a test that commits PostgreSQL would make each table and index anew, which takes it a second.

    And Django would write two tables again, row by row, though nothing changes them: they stay as they are.
    """
    from django.conf import settings

    if settings.DATABASES["default"]["ENGINE"] == "django.db.backends.postgresql":
        from django.core.management.commands import flush
        from django.db.backends.postgresql import operations

        operations.DatabaseOperations.sql_flush = deletes  # type: ignore[method-assign]
        vars(flush)["emit_post_migrate_signal"] = lambda *told: None


def deletes(
    self: BaseDatabaseOperations,
    style: Style,
    tables: Sequence[str],
    *,
    reset_sequences: bool = False,
    allow_cascade: bool = False,
) -> list[str]:
    """One statement instead of `TRUNCATE`: whether rows still point to others is looked at when it ends."""
    assert not reset_sequences, "sequences go on, as they do after flush"
    emptied = [name for name in tables if name not in FILLED_BY_MIGRATE]
    rows = "".join(f"DELETE FROM {self.quote_name(name)}; " for name in emptied)
    return [f"DO $$ BEGIN {rows}END $$"] if emptied else []


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
