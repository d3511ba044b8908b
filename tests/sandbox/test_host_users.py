"""Each sandbox has a user of its own, which comes free with the last process that has it."""

import os
import pwd
import select
import signal
import subprocess
import sys
from itertools import islice
from pathlib import Path

import pytest

from sandbox import host_users
from sandbox.host_users import (
    USERS,
    HostUsers,
    NoUserFree,
    find_unused_users,
    parse_users,
    users_of_backend,
)

FEW = range(70_000, 70_003)
HOLDER = """
import os, sys, time
from pathlib import Path
from sandbox.host_users import HostUsers
lease = HostUsers(range(70_000, 70_003), Path(sys.argv[1])).lease()
os.set_inheritable(lease.descriptor, True)
if len(sys.argv) > 2 and os.fork() == 0:
    os.setsid()
    print(os.getpid(), flush=True)
    time.sleep(100)
if len(sys.argv) == 2:
    print(lease.user, flush=True)
time.sleep(100)
"""


@pytest.fixture(autouse=True)
def _nothing_remembered() -> None:
    host_users._is_known.cache_clear()
    host_users._subordinate_users.cache_clear()


def test_no_two_leases_have_one_user(tmp_path: Path) -> None:
    users = HostUsers(FEW, tmp_path)
    leases = [users.lease() for _ in FEW]
    assert sorted(lease.user for lease in leases) == [*FEW]
    with pytest.raises(NoUserFree, match="every user from 70000 to 70002 is taken"):
        users.lease()
    leases[1].end()
    assert users.lease().user == leases[1].user


def _holder(folder: Path, *more: str) -> tuple[subprocess.Popen[str], int]:
    process = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(folder), *more], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    return process, int(process.stdout.readline())


def test_another_process_gets_another_user_until_it_is_killed(tmp_path: Path) -> None:
    users = HostUsers(FEW, tmp_path)
    holder, taken = _holder(tmp_path)
    with holder:
        assert {users.lease().user, users.lease().user} == {*FEW} - {taken}
        with pytest.raises(NoUserFree):
            users.lease()
        holder.kill()
    assert users.lease().user == taken


def test_a_sandbox_that_outlives_its_caller_keeps_its_user(tmp_path: Path) -> None:
    users = HostUsers(FEW, tmp_path)
    holder, sandbox = _holder(tmp_path, "with a child")
    with holder:
        holder.kill()
    leases = [users.lease(), users.lease()]
    with pytest.raises(NoUserFree):
        users.lease()
    ended = select.poll()
    ended.register(os.pidfd_open(sandbox), select.POLLIN)
    os.kill(sandbox, signal.SIGKILL)
    assert ended.poll(30_000)
    assert users.lease().user not in {lease.user for lease in leases}


def test_accounts_and_subordinate_users_are_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    subordinate = tmp_path / "subuid"
    subordinate.write_text("somebody:70004:3\n\nbroken:line\n")
    monkeypatch.setattr(host_users, "_SUBORDINATE", (subordinate, tmp_path / "missing"))
    real = pwd.getpwuid
    monkeypatch.setattr(pwd, "getpwuid", lambda user: real(0 if user == 70_001 else user))
    found = [*find_unused_users(range(70_000, 70_010))]
    assert sorted(found) == [70_000, 70_002, 70_003, 70_007, 70_008, 70_009]


def test_the_backends_share_no_user() -> None:
    bubblewrap, docker = (users_of_backend(USERS, name) for name in ("bubblewrap", "docker"))
    assert not {*bubblewrap} & {*docker}
    assert {*bubblewrap} | {*docker} == {*USERS}


def test_the_usual_range_is_nobodys_here() -> None:
    assert len([*islice(find_unused_users(USERS), len(USERS))]) == len(USERS)


@pytest.mark.parametrize("text", ["", "60800", "a-b", "60800-60814", "0-100", "1-4294967294", "9-1", "-5-90"])
def test_what_is_no_range_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="expected FIRST-LAST"):
        parse_users(text)
