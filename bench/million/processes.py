"""Processes that do a step, and what they cost with their children."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Final

from django.conf import settings
from django.db import connection

Cost = tuple[float, float, int]
"""Seconds of a processor, seconds by the clock, and MiB that the largest process had in memory at most."""
SECONDS_BETWEEN_LOOKS: Final = 2.0
TOLD: Final = 2_000
"""So many characters of what a command that failed said last."""


class StepFailed(RuntimeError):
    """A command did not end well; the message is what it said."""


def run_command(command: Sequence[str], environment: Mapping[str, str]) -> Cost:
    """Run `manage.py` with these words. Raises StepFailed."""
    return run_until([["manage.py", *command]], None, environment)


def run_until(
    commands: Sequence[Sequence[str]], is_done: Callable[[], bool] | None, environment: Mapping[str, str]
) -> Cost:
    """Run Python with each of these words side by side until `is_done`, then stop them; None: to their end.

    Raises StepFailed where one ends by itself otherwise.
    """
    began = time.perf_counter()
    with TemporaryFile() as said:
        started = [start_python(words, environment, said) for words in commands]
        try:
            while is_done is not None and not is_done():
                connection.close()
                if any(has_ended(one) for one in started):
                    break
                time.sleep(SECONDS_BETWEEN_LOOKS)
        finally:
            early = is_done is not None and any(has_ended(one) for one in started)
            if is_done is not None:
                for one in started:
                    os.kill(one.pid, signal.SIGTERM)  # Popen's own would take an ended one away
            used = [wait_and_measure(one) for one in started]
        if early or (is_done is None and any(one.returncode for one in started)):
            said.seek(0)
            raise StepFailed(f"{' '.join(commands[0])}: {said.read().decode(errors='replace')[-TOLD:]}")
    cpu = sum(one.ru_utime + one.ru_stime for one in used)
    return cpu, time.perf_counter() - began, max(one.ru_maxrss for one in used) // 1024


def start_python(
    words: Sequence[str], environment: Mapping[str, str], said: IO[bytes]
) -> subprocess.Popen[bytes]:
    """Start Python in the folder of the application; what it says goes to a file."""
    command = [sys.executable, *words]
    return subprocess.Popen(
        command, env=dict(environment), cwd=Path(settings.BASE_DIR), stdout=said, stderr=said
    )


def has_ended(process: subprocess.Popen[bytes]) -> bool:
    """Whether it did, without taking it away from who measures it."""
    return os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None


def wait_and_measure(process: subprocess.Popen[bytes]) -> resource.struct_rusage:
    """What it used by its end."""
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return used
