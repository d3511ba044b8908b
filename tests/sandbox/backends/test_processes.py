"""Nothing of a started command stays: neither at the end of its block, nor after its caller died."""

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from sandbox.backends import processes
from sandbox.backends.processes import as_user, build_process_mark, run_process_in_block
from sandbox.protocol import SandboxUnavailable

_CALLER = """
import sys
from sandbox.backends import processes
from sandbox.backends.processes import run_process_in_block
processes._MARK = sys.argv[1]
with run_process_in_block(
    ["/bin/sh", "-c", "sleep 100 & sleep 100", processes.build_process_mark()]
) as process:
    print(process.pid, flush=True)
    sys.stdin.readline()
"""


def _session(leader: int) -> list[str]:
    """The processes of a session that are no zombies."""
    found = []
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = status.read_text().rpartition(")")[2].split()
        except (FileNotFoundError, ProcessLookupError):
            continue
        if int(fields[3]) == leader and fields[0] not in "ZX":
            found.append(status.parent.name)
    return found


def _settles(condition: Callable[[], bool]) -> bool:
    deadline = time.monotonic() + 60
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.01)
    return condition()


def test_a_program_never_sees_the_callers_umask() -> None:
    before = os.umask(0o077)
    try:
        with run_process_in_block(["/bin/sh", "-c", "umask"]) as process:
            assert process.stdout
            assert process.stdout.read() == b"0022\n"
    finally:
        os.umask(before)


def test_the_block_ends_all_of_it() -> None:
    with run_process_in_block(
        ["/bin/sh", "-c", "sleep 100 & echo $0; sleep 100", build_process_mark()]
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline().decode().strip() == build_process_mark()
        assert _settles(lambda: len(_session(process.pid)) == 3)
    assert _settles(lambda: _session(process.pid) == [])


def test_what_a_dead_caller_started_is_killed_and_what_a_live_one_started_is_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # A mark of its own: else a sandbox that other tests open now may be the one that kills it.
    monkeypatch.setattr(processes, "_MARK", f"cosqa-test-{os.getpid()}=")
    command = [sys.executable, "-c", _CALLER, processes._MARK]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as caller:
        assert caller.stdout is not None
        leader = int(caller.stdout.readline())
        processes.reap_orphan_processes()
        assert str(leader) in _session(leader)
        caller.kill()
    assert processes.reap_orphan_processes() >= 1
    assert _settles(lambda: str(leader) not in _session(leader))


def test_a_command_that_cannot_be_started_says_so() -> None:
    with pytest.raises(FileNotFoundError), run_process_in_block(["/nowhere/bwrap"]):
        pass


def test_the_environment_is_empty(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COSQA_SECRET", "planted")
    with run_process_in_block(["/usr/bin/env"]) as process:
        assert process.stdout is not None and process.stdout.read() == b""


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may become somebody else")
def test_root_becomes_another_user_without_groups_and_rights() -> None:
    with run_process_in_block(
        [*as_user(65534), "/bin/sh", "-c", "id -u; id -G; grep CapPrm /proc/self/status"]
    ) as process:
        assert process.stdout is not None
        told = process.stdout.read().decode().split()
    assert told == ["65534", "65534", "CapPrm:", "0" * 16]


def test_without_the_program_that_drops_rights_it_is_said_what_to_install(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(SandboxUnavailable, match="util-linux"):
        as_user(65534)
