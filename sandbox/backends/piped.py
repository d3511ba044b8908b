"""A bubblewrap that has been set up, spoken to through its pipes; a control group holds its memory limit."""

import json
import os
import select
import subprocess
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from io import FileIO
from pathlib import Path

from sandbox.backends.cgroups import MemoryGroup
from sandbox.backends.execution import (
    GRACE_SECONDS,
    OOM_SCORE,
    STARVED,
    HarnessLost,
    NotStarted,
    Reply,
    read_reply,
)
from sandbox.backends.processes import end_process_tree, kill_process_tree, start_process
from sandbox.host_users import UserLease
from sandbox.protocol import SandboxUnavailable

# Given the descriptors of the filter to load and of the pipe to tell by: what to start.
Command = Callable[[int, int], Sequence[str]]


@dataclass(frozen=True, slots=True)
class Piped:
    """A bubblewrap whose harness waits for its one request.

    With a control group where one may be made, and under a user of its own where the caller is root.
    """

    process: subprocess.Popen[bytes]
    group: MemoryGroup | None
    lease: UserLease | None

    def alive(self) -> bool:
        """Whether it still waits."""
        return self.process.poll() is None

    def converse(self, message: bytes, seconds: float) -> Reply:
        """Send the request and read the reply; standard input stays open: its end says that the caller died.

        Raises HarnessLost and Garbled, and SandboxUnavailable when the machine's memory ran out.
        """
        return self.told(lambda: _conversed(self.process, message, time.monotonic() + seconds))

    def told(self, converse: Callable[[], bytes]) -> Reply:
        """What `converse` reads of the harness, with the kernel's kills; raises as `converse` above."""
        try:
            data = converse()
        except HarnessLost:
            if kills := self._kills():
                return Reply(b"", kills)
            raise
        return Reply(data, self._kills())

    def close(self) -> None:
        """End all of it, remove its group, and give its user back."""
        end_process_tree(self.process)
        if self.group:
            self.group.remove_soon()
        if self.lease:
            self.lease.end()

    def _kills(self) -> int | None:
        """The kernel's kills in there for its own limit; raises SandboxUnavailable where for others' sake."""
        if self.group is None:
            return None
        kills, own = self.group.kills()
        if kills and not own:
            raise SandboxUnavailable(STARVED)
        return kills


def set_up(
    command: Command,
    rules: Path,
    group: Callable[[], MemoryGroup | None],
    lease: UserLease | None,
    besides: tuple[int, ...] = (),
) -> Piped:
    """Start a bubblewrap, with its harness in a group of its own before it is told what to run.

    `rules` is the file of the system call filter; it gets the descriptors `besides`, too. The lease is its
    own from now on, or ends here. Raises NotStarted, and OSError where nothing can start.
    """
    with ExitStack() as opened, ExitStack() as undo:
        if lease:
            undo.callback(lease.end)
        source, info, sink = (opened.enter_context(one) for one in (rules.open("rb", 0), *_pipe()))
        # It gets both ends: without a reader it would die of telling, and leave a half that waits for it.
        descriptors = source.fileno(), info.fileno(), sink.fileno()
        # The sandbox's own copy keeps the user leased while it outlives a caller that was killed.
        kept = (*descriptors, *besides, *((lease.descriptor,) if lease else ()))
        process = start_process(command(descriptors[0], descriptors[2]), kept)
        undo.callback(end_process_tree, process)
        sink.close()
        first = _first_pid(info.fileno(), process)
        found = group()
        if found:
            undo.callback(found.remove_soon)
            with suppress(ProcessLookupError):  # it ended: who asks it next hears why
                found.add(first)
        if lease:
            with suppress(FileNotFoundError, ProcessLookupError):
                # Set by root: whoever is in there cannot lower it again.
                Path(f"/proc/{first}/oom_score_adj").write_text(str(OOM_SCORE))
        undo.pop_all()
    return Piped(process, found, lease)


def _pipe() -> tuple[FileIO, FileIO]:
    source, sink = os.pipe()
    return FileIO(source, "r"), FileIO(sink, "w")


def _first_pid(info: int, process: subprocess.Popen[bytes]) -> int:
    """The sandbox's process 1 as this machine numbers it; raises NotStarted when bubblewrap tells of none."""
    told, read = b"", read_in_time(info, time.monotonic() + GRACE_SECONDS)
    try:
        while not told.rstrip().endswith(b"}"):
            part = read(4096)
            if not part:
                raise NotStarted(f"bubblewrap could not set up: {_last_words(process)}")
            told += part
    except HarnessLost as error:
        raise NotStarted("bubblewrap did not set up in time") from error
    return int(json.loads(told)["child-pid"])


def _conversed(process: subprocess.Popen[bytes], message: bytes, deadline: float) -> bytes:
    assert process.stdin is not None and process.stdout is not None
    try:
        send_in_time(process.stdin.fileno(), len(message).to_bytes(4, "big") + message, deadline)
        return read_reply(read_in_time(process.stdout.fileno(), deadline))
    except (BrokenPipeError, HarnessLost) as error:
        raise HarnessLost(_last_words(process) or str(error)) from error


def _last_words(process: subprocess.Popen[bytes]) -> str:
    assert process.stderr is not None
    kill_process_tree(process)
    return process.stderr.read(4096).decode(errors="replace").strip()


def send_in_time(descriptor: int, data: bytes, deadline: float) -> None:
    """Write all of it; raises HarnessLost where nobody reads it in time."""
    os.set_blocking(descriptor, False)
    poll = select.poll()
    poll.register(descriptor, select.POLLOUT)
    while data:
        if not poll.poll(max(deadline - time.monotonic(), 0) * 1000):
            raise HarnessLost("the harness did not read its request in time")
        data = data[os.write(descriptor, data) :]


def read_in_time(descriptor: int, deadline: float) -> Callable[[int], bytes]:
    """A function that reads at most so many bytes, and raises HarnessLost after the deadline."""
    poll = select.poll()
    poll.register(descriptor, select.POLLIN)

    def read(at_most: int) -> bytes:
        if not poll.poll(max(deadline - time.monotonic(), 0) * 1000):
            raise HarnessLost("the harness did not answer in time")
        return os.read(descriptor, min(at_most, 1 << 16))

    return read
