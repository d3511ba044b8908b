"""A program beside another one gets what it gets alone: the kernel counts for users, and each has its own."""

import json
import os
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from sandbox.host_users import HostUsers, UserLease
from sandbox.program import Limits, Program
from sandbox.runner import Sandbox, open_sandbox

ANSWER = "def answer():\n    return 42\n"
TAKE_ALL = {
    "inotify instances": "while library.inotify_init1(0) >= 0:\n    taken += 1\n",
    "pending signals": (
        "import signal\nsignal.pthread_sigmask(signal.SIG_BLOCK, {40})\n"
        "while library.sigqueue(os.getpid(), 40, ctypes.c_void_p(1)) == 0:\n    taken += 1\n"
    ),
    "pipe pages": (
        "import fcntl\nF_SETPIPE_SZ, pipes = 1031, [os.pipe() for _ in range(100)]\n"
        "try:\n    for pipe in pipes:\n        fcntl.fcntl(pipe[0], F_SETPIPE_SZ, 1 << 20)\n"
        "        taken += 1\nexcept PermissionError:\n    pass\n"
    ),
}
# They hold what they took until both have taken.
HOLD = """
import json, time
print(json.dumps([taken, start, time.time()]), flush=True)
time.sleep({seconds})
"""

HOLDS = 1.5, 4.0, 8.0, 8.0, 8.0
"""Seconds for which they hold it, try by try: on a busy machine one begins long after the other."""


def _program(resource: str, seconds: float) -> Program:
    head = "import ctypes, os, time\nstart, taken = time.time(), 0\nlibrary = ctypes.CDLL(None)\n"
    return Program(ANSWER, head + TAKE_ALL[resource] + HOLD.format(seconds=seconds))


def _taken(sandbox: Sandbox, resource: str, seconds: float) -> list[Any]:
    report = sandbox.run(_program(resource, seconds), Limits(seconds=20))
    found: list[Any] = json.loads(report.stdout)
    return found


def _beside_each_other(sandbox: Sandbox, resource: str) -> list[int]:
    """What each of two took, of whom one began while the other held what it had taken."""
    for seconds in HOLDS:
        held = partial(_taken, sandbox, resource)
        with ThreadPoolExecutor(2) as threads:
            found = [*threads.map(held, (seconds, seconds))]
        (first, _, full), (second, _, later) = sorted(found, key=lambda one: one[2])
        if later - full < seconds - 0.5:
            return [first, second]
    raise AssertionError("the machine never ran two programs at the same time")


@pytest.mark.parametrize("resource", TAKE_ALL)
def test_a_neighbour_takes_nothing_away(resource: str, sandbox: Sandbox) -> None:
    if not any(check.ok for check in sandbox.check() if check.name == "own user of the machine for each run"):
        pytest.skip("this caller has no users to give")
    alone, _, _ = _taken(sandbox, resource, 0)
    assert alone > 0
    assert _beside_each_other(sandbox, resource) == [alone, alone]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives users")
@pytest.mark.parametrize("resource", TAKE_ALL)
def test_under_one_user_it_takes_all(
    resource: str, bubblewrap: Sandbox, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(HostUsers, "lease", lambda users: UserLease(61_183, os.open(os.devnull, os.O_RDONLY)))
    opened = open_sandbox("bubblewrap", home, pool=0, concurrency=2)
    alone, _, _ = _taken(opened, resource, 0)
    assert sum(_beside_each_other(opened, resource)) <= alone
    opened.close()
