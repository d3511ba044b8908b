"""Two ways to tell people outside: an e-mail, and a command that is given a JSON document."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from typing import Any, Final

from django.conf import settings
from django.core.mail import EmailMessage

from retrieval.texts.hostile import mark_hostile_characters

LONGEST_ERROR: Final = 1000
LONGEST_OUTPUT: Final = 800
LONGEST_SUBJECT: Final = 150
SECRETS: Final = {
    *("ANTHROPIC_API_KEY", "DEEPSEEK_API_KEY", "OPENAI_API_KEY", "OPENROUTER_API_KEY"),
    *("COSQA_EMBEDDINGS_API_KEY", "COSQA_LLM_API_KEY", "COSQA_SECRET_KEY"),
    "COSQA_OIDC_CLIENT_SECRET",
    *("CELERY_BROKER_URL", "DATABASE_URL", "EMAIL_URL", "REDIS_URL"),
    *("PIP_EXTRA_INDEX_URL", "PIP_INDEX_URL"),
}
"""Variables that the command does not inherit: it needs none of them."""


class NotSent(Exception):
    """The message did not get out; the text says why, as far as one knows."""


def send_notification_mail(subject: str, body: str) -> None:
    """Send to the configured addresses. Raises NotSent."""
    send_mail(subject, mark_hostile_characters(body), settings.NOTIFY_EMAIL)


def send_mail(subject: str, body: str, addresses: Sequence[str]) -> None:
    """Send one text to these addresses. Raises NotSent."""
    one_line = " ".join(mark_hostile_characters(subject).split())[:LONGEST_SUBJECT]
    message = EmailMessage(one_line, body, settings.NOTIFY_FROM, list(addresses))
    try:
        message.send()
    except Exception as error:  # whatever a mail backend and its server come up with
        raise NotSent(shorten_channel_output(f"{type(error).__name__}: {error}")) from error


def run_notification_command(document: Mapping[str, Any]) -> None:
    """Run the configured command with `document` as JSON on its standard input. Raises NotSent."""
    run_limited_program(settings.NOTIFY_COMMAND, json.dumps(document), settings.NOTIFY_SECONDS)


def run_limited_program(arguments: Sequence[str], text: str, seconds: float) -> None:
    """Run a program without a shell, and end it with all that it started when its time is over.

    Raises NotSent with the end of what it printed, unless it exits with 0.
    """
    with tempfile.TemporaryFile() as said:
        try:
            process = subprocess.Popen(
                list(arguments),
                stdin=subprocess.PIPE,
                stdout=said,
                stderr=subprocess.STDOUT,
                env=foreign_environment(),
                start_new_session=True,
            )
        except OSError as error:
            raise NotSent(shorten_channel_output(f"it can't be started: {error}")) from error
        try:
            process.communicate(text.encode(), timeout=seconds)
        except subprocess.TimeoutExpired as late:
            kill_process_group(process)
            raise NotSent(f"it did not end within {seconds:g} seconds and was killed") from late
        if process.returncode:
            raise NotSent(
                shorten_channel_output(
                    f"exit status {process.returncode}: {read_output_tail(said.fileno()) or 'no word'}"
                )
            )


def foreign_environment() -> dict[str, str]:
    """The variables for a program that is not ours: no secrets, and not our packages on Python's path."""
    kept = {name: value for name, value in os.environ.items() if name not in SECRETS}
    ours = str(settings.BASE_DIR)
    path = [folder for folder in kept.pop("PYTHONPATH", "").split(os.pathsep) if folder not in ("", ours)]
    return kept | ({"PYTHONPATH": os.pathsep.join(path)} if path else {})


def kill_process_group(process: subprocess.Popen[bytes]) -> None:
    """Kill the process with its group, and wait for it alone."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    if process.stdin is not None:
        with contextlib.suppress(OSError):
            process.stdin.close()
    process.wait()


def read_output_tail(file: int) -> str:
    """The end of what a file holds."""
    size = os.fstat(file).st_size
    return os.pread(file, LONGEST_OUTPUT, max(0, size - LONGEST_OUTPUT)).decode(errors="replace").strip()


def shorten_channel_output(text: str) -> str:
    return mark_hostile_characters(text)[:LONGEST_ERROR]
