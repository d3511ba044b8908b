"""`manage.py sandbox`: the commands of the library, with the settings of the installation."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.core.management import call_command

from annotation.jobs import providers
from cosqa_site.management.commands import sandbox as command
from sandbox.protocol import Check
from tests.fakes import FakeSandbox


class Leaky(FakeSandbox):
    def check(self) -> tuple[Check, ...]:
        return (Check("no network", False, "reached"),)


def opened(monkeypatch: pytest.MonkeyPatch, sandbox: FakeSandbox) -> list[object]:
    asked: list[object] = []

    def open_configured(backend: object) -> FakeSandbox:
        asked.append(backend)
        return sandbox

    monkeypatch.setattr(command, "open_configured", open_configured)
    return asked


def test_the_configured_sandbox_is_checked(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    sandbox = FakeSandbox()
    asked = opened(monkeypatch, sandbox)
    call_command("sandbox", "check", "--json")
    assert json.loads(capsys.readouterr().out)["backend"] == "fake"
    assert asked == [None] and sandbox.closed


def test_an_option_names_another_backend(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = opened(monkeypatch, FakeSandbox())
    call_command("sandbox", "reap", "--backend", "docker")
    assert asked == ["docker"]


def test_a_missing_protection_is_the_exit_status(monkeypatch: pytest.MonkeyPatch) -> None:
    opened(monkeypatch, Leaky())
    with pytest.raises(SystemExit) as ended:
        call_command("sandbox", "check")
    assert ended.value.code == 1


def test_the_settings_reach_the_library(monkeypatch: pytest.MonkeyPatch, settings: Any) -> None:
    given: dict[str, object] = {}
    monkeypatch.setattr(providers, "open_sandbox", lambda *args, **options: given.update(options))
    settings.PIP_CUTOFF = "2026-01-31"
    settings.PIP_UNDATED = True
    settings.SANDBOX_LAYERS_GB = 3
    settings.SANDBOX_USERS = range(70_000, 70_100)
    providers.open_configured()
    assert (given["uploaded_before"], given["undated"], given["layers_mb"]) == ("2026-01-31", True, 3072)
    assert given["users"] == range(70_000, 70_100)
