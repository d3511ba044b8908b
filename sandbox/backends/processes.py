"""Starts bubblewrap so that nothing of it stays: in a session of its own, with a mark that a reaper finds.

`--die-with-parent` is not enough: a caller that is killed while bubblewrap sets up leaves a half of it that
waits for the other half for ever.
"""

import contextlib
import os
import shutil
import signal
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

from sandbox.backends import owner
from sandbox.protocol import SandboxUnavailable

_MARK = "cosqa-sandbox="


def build_process_mark() -> str:
    """The argument by which processes of this caller are found."""
    return f"{_MARK}{owner.identify_own_process()}"


def as_user(uid: int) -> tuple[str, ...]:
    """The words before a command that root runs as `uid`, without groups and rights.

    A program does it: `subprocess` itself would have to fork for it, which copies all page tables of the
    caller. Raises SandboxUnavailable where that program is not installed.
    """
    found = shutil.which("setpriv")
    if found is None:
        raise SandboxUnavailable("setpriv is not installed: apt-get install util-linux")
    return found, f"--reuid={uid}", f"--regid={uid}", "--clear-groups", "--"


@contextlib.contextmanager
def run_process_in_block(
    command: Sequence[str], descriptors: tuple[int, ...] = ()
) -> Iterator[subprocess.Popen[bytes]]:
    """What `start_process` starts, and its end at the end of the block."""
    process = start_process(command, descriptors)
    try:
        yield process
    finally:
        end_process_tree(process)


def start_process(command: Sequence[str], descriptors: tuple[int, ...] = ()) -> subprocess.Popen[bytes]:
    """The running command with pipes and an empty environment. Raises OSError where it cannot be started.

    Only what has `mark()` among its arguments is found by `reap_orphan_processes`.
    """
    return subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={},
        cwd="/",
        pass_fds=descriptors,
        start_new_session=True,
        umask=0o022,  # whatever the caller's, as programs see it
    )


def kill_process_tree(process: subprocess.Popen[bytes]) -> None:
    """Kill all that belongs to it, without waiting for the end."""
    # The group, not the process: bubblewrap arms --die-with-parent too late to be killed alone.
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


def end_process_tree(process: subprocess.Popen[bytes]) -> None:
    """Kill all that belongs to it, and wait."""
    with process:
        kill_process_tree(process)


def reap_orphan_processes() -> int:
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
