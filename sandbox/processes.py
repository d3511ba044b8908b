"""Starts bubblewrap so that nothing of it stays: in a session of its own, with a mark that a reaper finds.

`--die-with-parent` is not enough: a caller that is killed while bubblewrap sets up leaves a half of it that
waits for the other half for ever.
"""

import contextlib
import os
import signal
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

from sandbox import owner

__all__ = ["mark", "reap", "started"]

_MARK = "cosqa-sandbox="


def mark() -> str:
    """The argument by which processes of this caller are found; also the name they are listed under."""
    return f"{_MARK}{owner.own()}"


@contextlib.contextmanager
def started(
    command: Sequence[str], descriptors: tuple[int, ...], uid: int | None
) -> Iterator[subprocess.Popen[bytes]]:
    """The running command with pipes and an empty environment; all of it is killed at the end of the block.

    Raises OSError where it cannot be started. `uid` is whom root drops to.
    """
    process = subprocess.Popen(
        [mark(), *command[1:]],
        executable=command[0],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={},
        cwd="/",
        pass_fds=descriptors,
        start_new_session=True,
        user=uid,
        group=uid,
        extra_groups=None if uid is None else [],
    )
    with process:
        try:
            yield process
        finally:
            # The group, not the process: bubblewrap arms --die-with-parent too late to be killed alone.
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)


def reap() -> int:
    """Kill what callers that no longer live left running; the number of processes."""
    killed = 0
    for process in _left_behind():
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(process, signal.SIGKILL)
            killed += 1
    return killed


def _left_behind() -> Iterator[int]:
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(FileNotFoundError, ProcessLookupError, PermissionError):
            marks = [
                part
                for part in (folder / "cmdline").read_bytes().split(b"\0")
                if part.startswith(_MARK.encode())
            ]
            if marks and owner.is_dead(marks[0].decode(errors="replace").removeprefix(_MARK)):
                yield int(folder.name)
