"""Sandboxes that are forked: as apart from each other as those that are started, and the same to programs."""

import json
import os
import socket
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from sandbox.backends.bubblewrap import BubblewrapSandbox, Shape
from sandbox.backends.fork_server import MOST_RUNS, ForkServer, ForkServers
from sandbox.backends.protections import ALL, Protection
from sandbox.pip_install import PipSettings, machine_settings
from sandbox.program import Limits, Program
from sandbox.reports.report import Report
from sandbox.runner import Sandbox

# What a program finds of its surroundings, as JSON.
LOOKS = """
import json, os, sys
def look():
    spaces = {name: os.readlink("/proc/self/ns/" + name) for name in os.listdir("/proc/self/ns")}
    return spaces
"""
# How often a secret is in its own memory; the pattern does not match itself.
SEARCHES = """
import re
def found(pattern):
    count = 0
    with open("/proc/self/maps") as maps, open("/proc/self/mem", "rb", 0) as memory:
        for line in maps:
            place, rights = line.split()[:2]
            first, last = (int(part, 16) for part in place.split("-"))
            if "r" in rights and "[v" not in line and last - first < 1 << 28:
                memory.seek(first)
                try:
                    count += len(re.findall(pattern.encode(), memory.read(last - first)))
                except OSError:
                    pass
    return count
"""
WRITES = """
def writes(place):
    try:
        with open(place, "w") as file:
            file.write("0")
    except OSError:
        return False
    return True
"""
STATE = """
import random, sys
def state():
    import numpy
    return sorted(sys.modules), sys.getrecursionlimit(), sys.flags, sys.path, sys.gettrace() is None
"""


def told(sandbox: Sandbox, candidate: str, call: str) -> object:
    report = sandbox.run(
        Program(candidate, f"import json\nprint(json.dumps({call}))\nassert True\n"), Limits(seconds=10)
    )
    assert report.stdout, report.to_json()
    return json.loads(report.stdout)


def test_each_run_has_namespaces_of_its_own(forked: Sandbox) -> None:
    own = {name: os.readlink(f"/proc/self/ns/{name}") for name in os.listdir("/proc/self/ns")}
    found = told(forked, LOOKS, "look()")
    assert isinstance(found, dict)
    # Two runs may have the same number, one after the other: the kernel gives those that are free again.
    for name in ("user", "pid", "mnt", "ipc", "net"):
        assert own[name] != found[name], name


def test_nothing_can_be_written_but_temporary_files(forked: Sandbox, bubblewrap: Sandbox) -> None:
    places = [
        "/proc/self/comm",
        "/proc/self/oom_score_adj",
        "/dev/kept",
        "/kept",
        "/tmp/kept",
        "/dev/shm/kept",
    ]
    for sandbox in (forked, bubblewrap):
        assert told(sandbox, WRITES, f"[writes(place) for place in {places}]") == [False] * 4 + [True] * 2


def test_no_secret_of_the_caller_or_of_the_run_before_is_in_a_runs_memory(
    forked: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COSQA_PLANTED", "of-the-" + "caller-7261")
    planted = (
        "SECRET = 'run-before-5528'\nopen('/tmp/kept', 'w').write(SECRET)\ndef hold():\n    return SECRET\n"
    )
    for _ in range(3):
        told(forked, planted, "hold()")
        found = told(forked, SEARCHES, "[found('caller-72[6]1'), found('run-before-55[2]8')]")
        assert found == [0, 0]
    assert told(forked, f"{SEARCHES}KEPT = 'planted-here'\n", "found('planted-her[e]')") != 0


@pytest.mark.parametrize("first", ["import numpy\n", "import pandas\n", "import json\n"])
def test_modules_paths_and_flags_are_those_of_a_fresh_start(
    first: str, forked: Sandbox, bubblewrap: Sandbox
) -> None:
    found, expected = (told(one, first + STATE, "state()") for one in (forked, bubblewrap))
    assert found == expected


@pytest.mark.parametrize("draw", ["random.random()", "numpy.random.random()", "os.urandom(8).hex()"])
def test_no_two_runs_draw_alike(draw: str, forked: Sandbox) -> None:
    candidate = f"import numpy\nimport os, random\ndef drawn():\n    return {draw}\n"
    assert len({str(told(forked, candidate, "drawn()")) for _ in range(3)}) == 3


def counted(home: Path, protections: frozenset[Protection] = ALL) -> tuple[BubblewrapSandbox, list[int]]:
    """A sandbox that forks, and a list that grows with each server that it starts."""
    environment, files = machine_settings(os.environ)
    sandbox = BubblewrapSandbox(
        home, 1, 0, 65534, PipSettings(environment, files), protections=protections, forks=True
    )
    assert sandbox._servers is not None
    sandbox._servers.close()  # with the one of its probe
    starts: list[int] = []

    def start(shape: Shape) -> ForkServer:
        starts.append(len(starts))
        return sandbox._start_server(shape)

    sandbox._servers = ForkServers(1, start)
    return sandbox, starts


@pytest.fixture
def fresh(forked: Sandbox, home: Path) -> Iterator[tuple[BubblewrapSandbox, list[int]]]:
    sandbox, starts = counted(home)
    yield sandbox, starts
    sandbox.close()


HONEST = Program("def f():\n    return 2\n", "assert f() == 2\n")


@pytest.mark.parametrize(
    "odd",
    [
        Program("def f():\n    import sys\n    return sys._getframe(1)\n", "assert f()\n"),
        Program("def f():\n    while True: pass\n", "assert f()\n"),
        Program("import os\ndef f():\n    os.kill(os.getpid(), 9)\n", "assert f()\n"),
        Program(
            "import os\ndef f():\n    return os.fork() or __import__('time').sleep(60)\n", "assert f()\n"
        ),
    ],
    ids=["a sign of forging", "out of time", "killed", "left a child"],
)
def test_after_an_odd_end_it_is_started_anew(
    odd: Program, fresh: tuple[BubblewrapSandbox, list[int]]
) -> None:
    sandbox, starts = fresh
    for program, expected in ((HONEST, 1), (HONEST, 1), (odd, 1), (HONEST, 2), (HONEST, 2)):
        sandbox.run(program, Limits(seconds=1))
        assert len(starts) == expected


def test_after_many_runs_it_is_started_anew(
    fresh: tuple[BubblewrapSandbox, list[int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    sandbox, starts = fresh
    assert MOST_RUNS == 200
    monkeypatch.setattr("sandbox.backends.fork_server.MOST_RUNS", 3)
    for _ in range(7):
        assert sandbox.run(HONEST, Limits()).outcome == "passed"
    assert len(starts) == 3


def test_a_server_that_died_is_replaced(fresh: tuple[BubblewrapSandbox, list[int]]) -> None:
    sandbox, starts = fresh
    assert sandbox.run(HONEST, Limits()).outcome == "passed"
    assert isinstance(sandbox._servers, ForkServers)
    ((_, server),) = sandbox._servers._waiting
    server.piped.process.kill()
    server.piped.process.wait()
    assert sandbox.run(HONEST, Limits()).outcome == "passed"
    assert len(starts) == 2


CONNECTS = """
import os, socket
def reach():
    with socket.socket() as one:
        one.settimeout(1)
        return one.connect_ex(("127.0.0.1", PORT))
def processes():
    return sum(name.isdigit() for name in os.listdir("/proc"))
"""


@pytest.mark.parametrize("taken", ["outside", "inside"])
def test_each_of_the_two_levels_keeps_the_network_and_the_processes_away(
    taken: str, forked: Sandbox, home: Path
) -> None:
    sandbox, _ = counted(home)
    weak = ALL - {Protection.NETWORK, Protection.PROCESSES}
    whole, confinement = ALL, sandbox._confinement
    outside, inside = (weak, whole) if taken == "outside" else (whole, weak)

    class Uneven(type(confinement)):  # type: ignore[misc]
        def serve(self, *values: object) -> list[str]:
            command: list[str] = replace(confinement, protections=outside).serve(*values)  # type: ignore[arg-type]
            return [word for word in command if word not in whole] + sorted(inside)

    sandbox._confinement = Uneven(
        confinement.bwrap, confinement.python, confinement.harness, confinement.protections
    )
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        candidate = f"PORT = {listener.getsockname()[1]}\n{CONNECTS}"
        found = told(sandbox, candidate, "[reach() != 0, processes() <= 5]")
    sandbox.close()
    assert found == [True, True]


def test_layers_of_ones_own_start_anew(fresh: tuple[BubblewrapSandbox, list[int]]) -> None:
    sandbox, starts = fresh
    report: Report = sandbox.run(replace(HONEST, dependencies=("six==1.17.0",)), Limits())
    assert report.outcome in ("passed", "unavailable")
    assert starts == []
