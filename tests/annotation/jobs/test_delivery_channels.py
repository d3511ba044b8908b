"""An e-mail and a command: what arrives, and that nothing hangs, leaks or harms when they fail."""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from django.core import mail

from annotation.jobs import delivery_channels


def script(tmp_path: Path, text: str) -> list[str]:
    path = tmp_path / "hook.py"
    path.write_text(text)
    return [sys.executable, str(path)]


def test_the_command_gets_the_document_and_none_of_our_secrets(
    tmp_path: Path, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-secret")
    monkeypatch.setenv("HOOK_CHANNEL", "builds")
    out = tmp_path / "out.json"
    settings.NOTIFY_COMMAND = [
        *script(
            tmp_path,
            "import json, os, sys; json.dump([sys.stdin.read(), dict(os.environ)], open(sys.argv[1], 'w'))",
        ),
        str(out),
    ]
    delivery_channels.run_notification_command({"event": "test", "words": "$(touch /tmp/never) ; `id`"})
    text, environment = json.loads(out.read_text())
    assert json.loads(text) == {"event": "test", "words": "$(touch /tmp/never) ; `id`"}
    assert environment["HOOK_CHANNEL"] == "builds"
    assert not delivery_channels.SECRETS & set(environment)


def test_the_command_does_not_find_our_packages_on_its_path(
    monkeypatch: pytest.MonkeyPatch, settings: Any
) -> None:
    ours = str(settings.BASE_DIR)
    monkeypatch.setenv("PYTHONPATH", f"{ours}:/theirs")
    assert delivery_channels.foreign_environment()["PYTHONPATH"] == "/theirs"
    monkeypatch.setenv("PYTHONPATH", ours)
    assert "PYTHONPATH" not in delivery_channels.foreign_environment()


def test_a_command_that_fails_says_what_it_printed_last(tmp_path: Path) -> None:
    text = "import sys; print('x' * 5000); sys.exit('no route to the chat')"
    with pytest.raises(
        delivery_channels.NotSent, match=r"(?s)^exit status 1: .*no route to the chat$"
    ) as told:
        delivery_channels.run_limited_program(script(tmp_path, text), "{}", 10)
    assert len(str(told.value)) <= delivery_channels.LONGEST_ERROR


def test_a_command_that_does_not_read_its_input_is_no_failure(tmp_path: Path) -> None:
    delivery_channels.run_limited_program(script(tmp_path, "pass"), json.dumps({"words": "w" * 300_000}), 10)


def test_a_command_that_is_not_there_says_so() -> None:
    with pytest.raises(delivery_channels.NotSent, match="can't be started"):
        delivery_channels.run_limited_program(["/nowhere/hook"], "{}", 10)


def test_a_command_that_takes_too_long_is_killed_with_what_it_started(tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    text = (
        "import os, subprocess, sys, time\n"
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)'])\n"
        f"open({str(pids)!r}, 'w').write(str(child.pid))\n"
        "time.sleep(60)\n"
    )
    began = time.monotonic()
    with pytest.raises(delivery_channels.NotSent, match="within 3 seconds and was killed"):
        delivery_channels.run_limited_program(script(tmp_path, text), "{}", 3)
    assert time.monotonic() - began < 20
    assert is_gone(int(pids.read_text()))


def is_gone(pid: int) -> bool:
    """Whether a process ends soon; one that nobody has waited for is as good as gone."""
    ends = time.monotonic() + 10
    while time.monotonic() < ends:
        try:
            if Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] == "Z":
                return True
        except OSError:
            return True
        time.sleep(0.05)
    os.kill(pid, 9)
    return False


def test_a_mail_goes_to_all_with_a_subject_of_one_line(settings: Any) -> None:
    settings.NOTIFY_EMAIL, settings.NOTIFY_FROM = ["a@example.org", "b@example.org"], "w@example.org"
    delivery_channels.send_notification_mail("autumn\nBcc: everybody@example.org", "It is done.\n\x00")
    [sent] = mail.outbox
    assert (sent.to, sent.from_email) == (["a@example.org", "b@example.org"], "w@example.org")
    assert sent.subject == "autumn Bcc: everybody@example.org"
    assert "\x00" not in sent.body


def test_a_mail_server_that_does_not_answer_is_told(settings: Any) -> None:
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    settings.NOTIFY_EMAIL, settings.EMAIL_HOST, settings.EMAIL_PORT = ["a@example.org"], "127.0.0.1", 1
    with pytest.raises(delivery_channels.NotSent, match="ConnectionRefusedError"):
        delivery_channels.send_notification_mail("s", "b")
