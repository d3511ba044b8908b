"""The word for load balancers, and what `check --tag health` finds."""

from __future__ import annotations

import io
from collections.abc import Callable

import pytest
from django.core import checks
from django.core.checks.registry import registry
from django.core.management import CommandError, call_command
from django.db import DatabaseError, connection
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.recorder import MigrationRecorder
from django.test import Client
from pytest_django import Settings

from annotation.builds.limits import full_disk
from annotation.models import Build
from cosqa_site import health
from retrieval.models import Mining
from sandbox.protocol import Check
from sandbox.runner import SandboxUnavailable
from tests import factories, full_disks
from tests.fakes import FakeSandbox

pytestmark = pytest.mark.django_db


class Leaky(FakeSandbox):
    """A sandbox of which one protection is missing that executing needs, and one that it does not."""

    def check(self) -> tuple[Check, ...]:
        return (
            Check("network", ok=False, found="reaches the internet"),
            Check("cgroup", ok=False, found="not writable", required=False),
            Check("user", ok=True, found="65534"),
        )


@pytest.fixture
def sandboxed(monkeypatch: pytest.MonkeyPatch) -> Callable[[FakeSandbox], FakeSandbox]:
    def put(sandbox: FakeSandbox) -> FakeSandbox:
        monkeypatch.setattr(health, "open_configured", lambda: sandbox)
        return sandbox

    return put


def broken(*args: object) -> None:
    raise DatabaseError("connection refused")


def test_load_balancers_need_no_login_and_learn_nothing_else() -> None:
    response = Client().get("/health/")
    assert response.status_code == 200
    assert response.json() == {"status": "ok", "version": health.installed_version()}
    assert "no-store" in response["Cache-Control"]


def test_without_its_database_a_server_is_not_ok(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(health, "ping_database", broken)
    response = Client().get("/health/")
    assert response.status_code == 503
    assert "refused" not in response.content.decode()


def test_nothing_but_reading_is_allowed() -> None:
    assert Client().post("/health/").status_code == 405
    assert Client().head("/health/").status_code == 200


def test_health_is_only_looked_at_when_asked(
    sandboxed: Callable[[FakeSandbox], FakeSandbox],
) -> None:
    sandbox = sandboxed(FakeSandbox())
    call_command("check", stdout=io.StringIO(), stderr=io.StringIO())
    assert not sandbox.closed
    call_command("check", tags=["health"], stdout=io.StringIO(), stderr=io.StringIO())
    assert sandbox.closed
    assert health.installation_is_healthy not in registry.registered_checks


def test_the_tag_is_listed() -> None:
    said = io.StringIO()
    call_command("check", list_tags=True, stdout=said)
    assert "health" in said.getvalue().split()


def test_an_error_ends_the_command_with_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing() -> FakeSandbox:
        raise SandboxUnavailable("install bubblewrap")

    monkeypatch.setattr(health, "open_configured", missing)
    with pytest.raises(CommandError, match="install bubblewrap"):
        call_command("check", tags=["health"], stderr=io.StringIO())


def test_missing_protections_are_errors_or_warnings(
    sandboxed: Callable[[FakeSandbox], FakeSandbox],
) -> None:
    sandboxed(Leaky())
    found = list(health.check_sandbox())
    assert [(type(one), one.id) for one in found] == [
        (checks.Error, "cosqa.E104"),
        (checks.Warning, "cosqa.W104"),
    ]
    assert "network: reaches the internet" in found[0].msg


def test_a_sandbox_that_nobody_wants_is_not_opened(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.SANDBOX_BACKEND = "none"
    monkeypatch.setattr(health, "open_configured", broken)
    assert list(health.check_sandbox()) == []


@pytest.mark.parametrize(
    ("state", "given", "errors"),
    [("running", "", 1), ("waiting", "", 1), ("done", "", 0), ("cancelled", "", 0), ("running", "sk-x", 0)],
)
def test_live_builds_need_a_key(settings: Settings, state: str, given: str, errors: int) -> None:
    settings.ANTHROPIC_API_KEY = given
    factories.launched("nightly", provider=Build.Provider.LIVE, state=state)
    found = list(health.check_live_key())
    assert len(found) == errors
    assert all("nightly" in one.msg for one in found)


def test_a_provider_that_needs_no_key_is_asked_without_one(settings: Settings) -> None:
    settings.ANTHROPIC_API_KEY, settings.LLM_PROFILE = "", "vllm"
    factories.launched("nightly", provider=Build.Provider.LIVE)
    assert list(health.check_live_key()) == []


def test_builds_by_file_need_no_key(settings: Settings) -> None:
    settings.ANTHROPIC_API_KEY = ""
    factories.launched()
    assert list(health.check_live_key()) == []


def test_minings_that_wait_need_their_weights(monkeypatch: pytest.MonkeyPatch) -> None:
    missing = {"codebert": "no codebert.bin", "codet5p": "no codet5p.bin"}
    monkeypatch.setattr("retrieval.mining.known_encoders.why_missing", missing.get)
    factories.mining(state=Mining.State.DONE, encoders=["codet5p"])
    factories.mining(state=Mining.State.WAITING, encoders=["bow", "codebert"])
    found = list(health.check_encoder_weights())
    assert [one.id for one in found] == ["cosqa.E106"]
    assert "no codebert.bin" in found[0].msg


def test_without_the_database_nothing_else_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(health, "ping_database", broken)
    found = health.installation_is_healthy()
    assert [one.id for one in found] == ["cosqa.E101"]


def test_missing_migrations_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(MigrationExecutor, "migration_plan", lambda *args, **options: ["0002"])
    assert [one.id for one in health.check_database()] == ["cosqa.E102"]


def test_a_broker_that_does_not_answer(settings: Settings) -> None:
    settings.CELERY_BROKER_URL = "redis://127.0.0.1:1/0"
    assert [one.id for one in health.check_broker()] == ["cosqa.E107"]


def test_without_a_broker_there_is_nothing_to_ask(settings: Settings) -> None:
    settings.CELERY_BROKER_URL = ""
    assert list(health.check_broker()) == []


def test_without_room_on_its_disk_a_server_is_not_ok(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(full_disk, "find_free_bytes", lambda folder: 10**6)
    response = Client().get("/health/")
    assert (response.status_code, response.json()["status"]) == (503, "not ok: the disk is full")
    [found] = health.check_disk()
    assert found.id == "cosqa.E109"
    assert found.msg.startswith("The disk is full: 1 MB are free where ")


def test_a_build_that_waits_for_room_elsewhere_is_not_ok() -> None:
    build = factories.launched("nightly", state=Build.State.WAITING, waits_for=Build.WaitsFor.DISK)
    assert Client().get("/health/").status_code == 503
    Build.objects.filter(pk=build.pk).update(state=Build.State.RUNNING)
    assert Client().get("/health/").status_code == 200


def test_a_database_that_is_full_is_told_as_a_full_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(health, "ping_database", full_disks.raise_full_database)
    assert Client().get("/health/").json()["status"] == "not ok: the disk is full"


def test_a_database_of_a_newer_release_is_not_to_be_migrated() -> None:
    MigrationRecorder(connection).record_applied("retrieval", "0099_of_tomorrow")
    [found] = health.check_database()
    assert (found.id, found.hint) == ("cosqa.E102", None)
    assert "A newer release made this database" in found.msg
