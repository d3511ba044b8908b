"""Starting: who may free what, who waits for whom."""

from __future__ import annotations

import fcntl
import socket
import threading
from datetime import timedelta
from pathlib import Path

import pytest
from django.db import connection
from django.utils import timezone
from pytest_django import Settings

from annotation.builds.pipeline import claims
from annotation.builds.pipeline.advance import Tools
from annotation.builds.pipeline.execution import SandboxProvider
from annotation.models import Case, LLMCall
from cosqa_site.service import server
from sandbox.runner import Sandbox, SandboxUnavailable
from tests import factories
from tests.fakes import FakeLLM, FakeSandbox


@pytest.fixture(autouse=True)
def home(settings: Settings, tmp_path: Path) -> Path:
    settings.COSQA_HOME = tmp_path
    return tmp_path


@pytest.fixture
def held(db: None) -> list[Case]:
    """Cases that a worker holds, which may be dead."""
    factories.opened()
    return claims.claim_cases("llm", 3)


def leases() -> int:
    return Case.objects.filter(lease__isnull=False).count()


def test_the_sandbox_is_open_before_anybody_waits_for_a_run(monkeypatch: pytest.MonkeyPatch) -> None:
    opened, prepared = FakeSandbox(), threading.Event()
    monkeypatch.setattr(opened, "install", lambda requirements: prepared.set())
    provider = SandboxProvider(lambda: opened)
    monkeypatch.setattr(
        server, "create_configured_tools", lambda: Tools(llm_of=lambda build: FakeLLM(), sandbox=provider)
    )
    monkeypatch.setattr(server, "answer_requests", lambda host, port: prepared.wait(60))
    monkeypatch.setattr(server, "thread_counts", dict)
    monkeypatch.setattr(server, "free_all", lambda: 0)
    server.serve_site("127.0.0.1", 0)
    assert prepared.is_set()


def test_a_machine_without_a_sandbox_serves_all_the_same() -> None:
    def nothing() -> Sandbox:
        raise SandboxUnavailable("install bubblewrap")

    server.warm_sandboxes(Tools(llm_of=lambda build: FakeLLM(), sandbox=SandboxProvider(nothing)))


@pytest.mark.skipif(connection.vendor != "sqlite", reason="elsewhere leases run out by themselves")
def test_whoever_works_alone_frees_what_dead_workers_held(held: list[Case]) -> None:
    with server.only_worker():
        assert (len(held), leases()) == (3, 0)


def test_whoever_works_beside_others_leaves_their_leases_alone(held: list[Case], home: Path) -> None:
    with (home / "work.lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_SH)
        with server.only_worker():
            assert leases() == 3


def test_calls_in_the_air_of_dead_workers_are_given_up(db: None) -> None:
    case = factories.cases(factories.opened())[0]
    later = timezone.now() + timedelta(minutes=5)
    call = factories.llm_call(case, "screener", {}, status=LLMCall.Status.RESERVED, expires_at=later)
    claims.free_all()
    call.refresh_from_db()
    assert call.expires_at is not None
    assert call.expires_at <= timezone.now()


def test_an_address_that_is_taken_is_refused_with_what_to_do() -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        with pytest.raises(server.PortTaken, match=rf"127.0.0.1:{port}: .*in use.*--port"):
            server.refuse_taken("127.0.0.1", port)
    server.refuse_taken("127.0.0.1", port)


@pytest.mark.parametrize(("host", "port"), [("127.0.0.1", 70000), ("192.0.2.1", 8000)])
def test_an_address_that_can_not_be_is_refused_too(host: str, port: int) -> None:
    with pytest.raises(server.PortTaken, match="Can't listen"):
        server.refuse_taken(host, port)


@pytest.mark.parametrize("host", ["a..b", "x" * 70, "300.1.1.1"])
def test_an_address_that_is_none_is_told_with_what_to_do(host: str) -> None:
    with pytest.raises(server.PortTaken, match=r"^Can't listen on .*Choose another with --host\.$"):
        server.refuse_taken(host, 8000)
