"""Out of memory is told from a kill, and no group outlives its caller."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from sandbox.backends import cgroups
from sandbox.backends.cgroups import MemoryGroup

_WAITS = "import sys; sys.stdin.readline(); "
_OWNER = """
import sys
from pathlib import Path
from sandbox.backends.cgroups import MemoryGroup
group = MemoryGroup.make(Path(sys.argv[1]), 64)
group.add(int(sys.argv[2]))
print(group.folder, flush=True)
sys.stdin.readline()
"""


@pytest.fixture(scope="module")
def parent() -> Path:
    found = cgroups.memory_parent()
    if found is None:
        pytest.skip("no control group may be made here")
    return found


@pytest.fixture
def group(parent: Path) -> Iterator[MemoryGroup]:
    made = MemoryGroup.make(parent, 64)
    yield made
    made.remove_soon()
    assert not made.folder.exists()


def _status(group: MemoryGroup, action: str) -> int:
    with subprocess.Popen(
        [sys.executable, "-c", _WAITS + action], stdin=subprocess.PIPE, text=True
    ) as process:
        group.add(process.pid)
        process.communicate("go\n")
        return process.returncode


def test_a_kill_for_memory_is_counted(group: MemoryGroup) -> None:
    assert _status(group, "bytearray(200 << 20)") == -signal.SIGKILL
    kills, own = group.kills()
    assert kills >= 1 and own


def test_a_kill_by_itself_is_not(group: MemoryGroup) -> None:
    assert _status(group, "import os; os.kill(os.getpid(), 9)") == -signal.SIGKILL
    assert group.kills()[0] == 0


@pytest.mark.parametrize("reached", [0, 3])
def test_a_kill_because_the_machine_had_no_memory_is_told_apart(tmp_path: Path, reached: int) -> None:
    (tmp_path / "cgroup.controllers").write_text("memory\n")
    (tmp_path / "memory.events").write_text(f"low 0\nmax 9\noom {reached}\noom_kill 2\n")
    group = MemoryGroup(tmp_path)
    assert group.kills() == (2, reached > 0)


def test_the_group_of_a_dead_caller_goes_with_all_that_runs_in_it(parent: Path) -> None:
    with subprocess.Popen(["sleep", "100"]) as left:
        command = [sys.executable, "-c", _OWNER, str(parent), str(left.pid)]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as caller:
            assert caller.stdout is not None
            folder = Path(caller.stdout.readline().strip())
            assert folder.exists()
            caller.kill()
        # A sandbox that other tests open now may be the one that reaps it.
        assert cgroups.reap_orphan_cgroups(parent) >= 1 or not folder.exists()
        assert not folder.exists() and left.wait(60) == -signal.SIGKILL


def test_the_group_of_a_caller_that_lives_stays(group: MemoryGroup, parent: Path) -> None:
    cgroups.reap_orphan_cgroups(parent)
    assert group.folder.exists() and str(os.getpid()) in group.folder.name
