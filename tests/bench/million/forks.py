"""Commands in forks of this process, which has loaded what they load: each is spared seconds of a start."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Callable, Mapping, Sequence
from typing import IO, Any

from django.core.management import get_commands, load_command_class
from django.urls import get_resolver

import manage
from bench.measure.scratch_database import Scratch

COMMANDS = ("build", "export", "import", "mine", "work")
Start = Callable[[Sequence[str], Mapping[str, str], IO[bytes]], Any]


def load_all() -> None:
    """Load what commands and pages load."""
    own = get_commands()
    for name in COMMANDS:
        load_command_class(own[name], name)
    get_resolver().url_patterns  # noqa: B018  # which loads every page


def make_by_copying(empty: Scratch) -> Callable[[Scratch, Callable[[], None]], bool]:
    """What stands for `Scratch.make`, and makes the tables once for all databases."""
    empty.make(lambda: None)

    def make(wanted: Scratch, fill: Callable[[], None]) -> bool:
        return not wanted.exists() and bool(empty.copy(wanted.name))

    return make


class Fork:
    """As much of a Popen as those need who wait for it."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self.returncode: int | None = None


def start_or_fork(start: Start) -> Start:
    """What starts the first command as `start` does, and forks for those after it."""
    started = list[Sequence[str]]()

    def start_or_go_on(words: Sequence[str], environment: Mapping[str, str], said: IO[bytes]) -> Any:
        started.append(words)
        if len(started) == 1 or words[0] != "manage.py":
            return start(words, environment, said)
        sys.stdout.flush()
        if pid := os.fork():
            return Fork(pid)
        os._exit(perform(words, environment, said))

    return start_or_go_on


def perform(words: Sequence[str], environment: Mapping[str, str], said: IO[bytes]) -> int:
    """Perform a command in this process, to its exit status; what it says goes to a file."""
    for stream in (1, 2):
        os.dup2(said.fileno(), stream)
    os.environ.clear()
    os.environ.update(environment)
    sys.argv = list(words)
    try:
        manage.main()
    except SystemExit as end:
        if isinstance(end.code, str):
            sys.stderr.write(end.code)
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:
        traceback.print_exc()
        return 1
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
    return 0
