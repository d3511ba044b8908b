"""What is left and what is said when callers die and engines fail: nothing, and the truth.

`make survive` runs this file at full size, with a second Docker Engine that is stopped, started and filled.
"""

import contextlib
import fcntl
import gc
import os
import random
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from sandbox.backends import cgroups, confinement
from sandbox.backends import containers as containers_module
from sandbox.backends.containers import LABEL
from sandbox.backends.layers import reachable_home
from sandbox.program import Limits, Program
from sandbox.reports.report import Outcome, Report
from sandbox.runner import Sandbox, open_sandbox
from tests.sandbox.engines import Engine
from tests.sizes import WHOLE

pytestmark = pytest.mark.timeout(3600 if WHOLE else 240)
KILLS = 50 if WHOLE else 6
RUNS = 2000
IMAGE = "cosqa-sandbox-test:bare"
ROOT = Path(__file__).parents[2]
SQUARE = "def f(x):\n    return x * x\n"
GOOD = Program(SQUARE, "assert f(3) == 9\n")

_CALLER = """
import os, sys, threading, time
from pathlib import Path
from sandbox.backends.layers import Layers, reachable_home
from sandbox.program import Limits, Program
from sandbox.runner import open_sandbox
backend, home, host = sys.argv[1], Path(sys.argv[2]), sys.argv[3]
print("ready", flush=True)
sandbox = open_sandbox(backend, home, docker_host=host, pool=2)
SOURCES = [
    "assert f(1) == 1",
    "import time; time.sleep(100)",
    "import subprocess; subprocess.run(['sleep', '100'])",
]
def runs(first):
    number = first
    while True:
        limits = Limits(seconds=0.1 if number % 2 else 100)
        sandbox.run(Program("def f(x): return x", SOURCES[number % 3]), limits)
        number += 1
def layers():
    while backend == "bubblewrap":
        name = f"{os.getpid()}-{time.time_ns()}"
        Layers(reachable_home(home)).ensure(name, lambda folder: time.sleep(0.1))
for action in (lambda: runs(0), lambda: runs(3), layers):
    threading.Thread(target=action).start()
"""


@pytest.fixture
def temporary(tmp_path: Path) -> Path:
    """Where callers have their temporary files."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    return folder


@contextlib.contextmanager
def caller(backend: str, home: Path, temporary: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A process that runs programs and makes layers until it is killed."""
    command = [sys.executable, "-c", _CALLER, backend, str(home), os.environ.get("DOCKER_HOST", "")]
    environment = {**os.environ, "TMPDIR": str(temporary)}
    with subprocess.Popen(command, stdout=subprocess.PIPE, cwd=ROOT, env=environment) as process:
        assert process.stdout is not None and process.stdout.readline() == b"ready\n"
        try:
            yield process
        finally:
            process.kill()


def processes(pid: int) -> list[str]:
    """The sandboxes that the process `pid` started, whichever half of them runs."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            command = (folder / "cmdline").read_bytes().split(b"\0")
            if any(part.startswith(b"cosqa-sandbox=") and f":{pid}:".encode() in part for part in command):
                found.append(b" ".join(command)[:100].decode(errors="replace"))
    return found


def unfinished(home: Path, pid: int) -> list[str]:
    """Layers that the process `pid` left incomplete, and their locks that somebody holds."""
    folder = reachable_home(home)
    found = [path.name for path in (folder / "layers").glob(f".*-{pid}-*")]
    for lock in (folder / "locks").glob(f"{pid}-*"):
        with lock.open() as file:
            try:
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except BlockingIOError:
                found.append(lock.name)
    return found


def groups(pid: int) -> list[str]:
    """Control groups that the process `pid` made."""
    parent = cgroups.memory_parent()
    return [path.name for path in parent.glob(f"cosqa-sandbox-*{pid}*")] if parent else []


def containers(pid: int) -> list[str]:
    """Containers that the process `pid` made."""
    import docker

    if not os.environ.get("COSQA_TEST_DOCKER"):
        return []
    host = os.environ.get("DOCKER_HOST") or "unix:///var/run/docker.sock"
    with contextlib.closing(docker.DockerClient(base_url=host)) as client:
        found = client.api.containers(all=True, filters={"label": LABEL})
        return [one["Id"] for one in found if str(pid) in one["Labels"].get(f"{LABEL}.owner", "").split(":")]


def settled(found: Callable[[], list[str]], reap: Callable[[], object] = bool) -> list[str]:
    """What is still found after a while; what was killed needs a moment to go.

    What was only being started when the caller died may show itself after a reaper's round: there is another.
    """
    deadline = time.monotonic() + 60
    while (left := found()) and time.monotonic() < deadline:
        time.sleep(0.05)
        reap()
    return left


def test_a_caller_that_is_killed_leaves_nothing(sandbox: Sandbox, home: Path, temporary: Path) -> None:
    moments = random.Random(sandbox.name)
    for _ in range(KILLS):
        with caller(sandbox.name, home, temporary) as process:
            time.sleep(moments.choice((moments.uniform(0, 0.3), moments.uniform(0, 2))))
            process.kill()
        # What is only being started when the caller dies shows itself a moment later.
        time.sleep(0.2)
        sandbox.reap()
        pid = process.pid
        left = settled(lambda: [*processes(pid), *containers(pid), *groups(pid)], sandbox.reap)  # noqa: B023
        assert left == []
        assert unfinished(home, pid) == [] and list(temporary.iterdir()) == []
        for made in reachable_home(home).glob(f"l*/{pid}-*"):
            made.rmdir() if made.is_dir() else made.unlink()
    assert sandbox.run(GOOD, Limits()).outcome is Outcome.PASSED


GARBAGE = {
    "ends at once": "pass",
    "prints": "print('hello')",
    "ends in the middle": "import os; os.write(1, bytes([0, 0, 1, 0]) + b'{')",
    "replies by other JSON": "import os; os.write(1, bytes([0, 0, 0, 2]) + b'{}')",
    "finds no packages": f"{confinement.ENTRY.replace('main()', '')}; import os; os.stat('/nowhere')",
}


@pytest.fixture(params=["bubblewrap", "docker"])
def fresh(request: pytest.FixtureRequest, home: Path) -> Iterator[Sandbox]:
    """A sandbox with nothing made ahead."""
    request.getfixturevalue(request.param)
    opened = open_sandbox(request.param, home, docker_host=os.environ.get("DOCKER_HOST", ""), pool=0)
    yield opened
    opened.close()


@pytest.mark.parametrize("kind", GARBAGE)
def test_garbage_of_the_harness_is_no_evidence(
    kind: str, fresh: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        for module in (confinement, containers_module):
            patch.setattr(module, "ENTRY", GARBAGE[kind])
        report = fresh.run(GOOD, Limits(seconds=3))
    assert report.outcome is Outcome.UNAVAILABLE and "no verdict" in report.detail
    assert fresh.run(GOOD, Limits()).outcome is Outcome.PASSED


@pytest.mark.whole
def test_memory_of_the_caller_stays_flat(sandbox: Sandbox) -> None:
    def resident() -> int:
        gc.collect()
        return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") >> 20

    def run(number: int) -> Outcome:
        return sandbox.run(
            Program(SQUARE, f"print('x' * 50000)\nassert f({number}) >= 0\n"), Limits()
        ).outcome

    with ThreadPoolExecutor(4) as threads:
        assert set(threads.map(run, range(RUNS // 10))) == {Outcome.PASSED}
        before = resident()
        assert set(threads.map(run, range(RUNS))) == {Outcome.PASSED}
    assert resident() - before < 20


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    """A second engine with an execution image that holds nothing but the harness."""
    if Engine.missing():
        pytest.fail(Engine.missing())
    made = Engine(tmp_path_factory.mktemp("engine"), megabytes=700)
    made.start()
    made.make_image(IMAGE)
    yield made
    made.remove()


@pytest.fixture
def beside(engine: Engine, home: Path) -> Iterator[Sandbox]:
    """A sandbox on the second engine."""
    opened = open_sandbox("docker", home, docker_host=engine.host, image=IMAGE, pool=2)
    yield opened
    opened.close()


def _runs(sandbox: Sandbox, count: int) -> Iterator[Report]:
    programs = [Program(SQUARE, f"assert f({number}) == {number**2}\n") for number in range(count)]
    with ThreadPoolExecutor(8) as threads:
        yield from threads.map(lambda program: sandbox.run(program, Limits()), programs)


@pytest.mark.whole
def test_an_engine_that_is_stopped_and_started_costs_no_report(engine: Engine, beside: Sandbox) -> None:
    def restart() -> None:
        time.sleep(3)
        engine.stop()
        time.sleep(2)
        engine.start()

    restarting = threading.Thread(target=restart)
    restarting.start()
    reports = list(_runs(beside, 200))
    restarting.join()
    # Whoever asked while it was away asks again, as the message says.
    again = list(_runs(beside, sum(report.outcome is Outcome.UNAVAILABLE for report in reports)))
    assert len(reports) == 200 and {report.outcome for report in again} <= {Outcome.PASSED}
    lost = {report.detail for report in reports if report.outcome is not Outcome.PASSED}
    assert lost and all("the program was not run" in told or "no verdict" in told for told in lost)
    _assert_clean(engine, beside)


@pytest.mark.whole
def test_an_engine_whose_disk_is_full_says_so_and_works_again_with_space(
    engine: Engine, beside: Sandbox
) -> None:
    with engine.full():
        reports = [*_runs(beside, 20)]
        # Those that waited were made before.
        assert {report.outcome for report in reports} <= {Outcome.UNAVAILABLE, Outcome.PASSED}
        told = [report.detail for report in reports if report.outcome is Outcome.UNAVAILABLE]
        assert told and all("no space left on device" in one and "ry again" in one for one in told)
    assert {report.outcome for report in _runs(beside, 20)} == {Outcome.PASSED}
    _assert_clean(engine, beside)


def _assert_clean(engine: Engine, sandbox: Sandbox) -> None:
    sandbox.close()
    sandbox.reap()
    assert settled(engine.containers) == []
