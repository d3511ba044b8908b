"""`manage.py notify test`: whoever sets notifications up sees at once whether they arrive."""

from __future__ import annotations

import runpy
import sys
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core import mail
from django.core.management import CommandError, call_command

from cosqa_site import settings as settings_module

pytestmark = pytest.mark.django_db


def said() -> str:
    out = StringIO()
    call_command("notify", "test", stdout=out)
    return out.getvalue()


def test_it_sends_by_mail_and_command(settings: Any, tmp_path: Path) -> None:
    got = tmp_path / "got.json"
    write = f"import sys; open({str(got)!r}, 'w').write(sys.stdin.read())"
    settings.NOTIFY_EMAIL, settings.NOTIFY_COMMAND = ["ada@example.org"], [sys.executable, "-c", write]
    assert said().splitlines() == ["e-mail: sent", "command: sent"]
    assert mail.outbox[0].to == ["ada@example.org"]
    assert '"event": "test"' in got.read_text()


def test_it_fails_where_a_way_does(settings: Any) -> None:
    settings.NOTIFY_EMAIL, settings.NOTIFY_COMMAND = [], ["/nowhere/hook"]
    with pytest.raises(CommandError, match="Not every way works"):
        said()


def test_it_says_what_to_set_where_nothing_is(settings: Any) -> None:
    settings.NOTIFY_EMAIL = settings.NOTIFY_COMMAND = []
    with pytest.raises(CommandError, match="COSQA_NOTIFY_EMAIL or COSQA_NOTIFY_COMMAND"):
        said()


def test_the_mail_server_is_read_from_its_address(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EMAIL_URL", "smtp+tls://me:secret@mail.example.org:587")
    monkeypatch.setenv("COSQA_NOTIFY_COMMAND", "/opt/hook --room 'the builds'")
    read = runpy.run_path(str(settings_module.__file__))
    names = ("EMAIL_HOST", "EMAIL_PORT", "EMAIL_HOST_USER", "EMAIL_HOST_PASSWORD", "EMAIL_USE_TLS")
    assert [read[name] for name in names] == ["mail.example.org", 587, "me", "secret", True]
    assert read["NOTIFY_COMMAND"] == ["/opt/hook", "--room", "the builds"]
