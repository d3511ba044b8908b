"""Cases that mean harm: each ends only itself, and cannot speak for another one."""

import pytest

from sandbox.program import Limits
from sandbox.reports.canonical import canonical_text
from sandbox.reports.report import Outcome
from sandbox.runner import Sandbox
from tests.sandbox.reports.test_cases import (
    CRASHED,
    EMPTY,
    FAILED,
    GOOD,
    HELD,
    KILLED,
    NOT_RUN,
    TIMED_OUT,
    outcomes,
    run,
)

HOSTILE = {
    "leaves": ("import os\n    assert f(1) == 1\n    os._exit(0)", KILLED),
    "kills itself": ("import os\n    assert f(1) == 1\n    os.kill(os.getpid(), 9)", KILLED),
    "kills its group": ("import os\n    assert f(1) == 1\n    os.kill(0, 9)", KILLED),
    "interrupts its parent": (
        "import os, signal\n    assert f(1) == 1\n    for one in (2, 10, 14, 15): os.kill(os.getppid(), one)",
        HELD,
    ),
    "closes everything": ("import os\n    assert f(1) == 1\n    os.closerange(0, 256)", KILLED),
    "aborts": ("import os\n    os.abort()", KILLED),
    "exec": ("import os\n    os.execv('/bin/sh', ['sh', '-c', 'exit 0'])", KILLED),
    "memory error": ("bytearray(1 << 42)", CRASHED),
    "children stay": (
        (
            "import os, time\n    for _ in range(20):\n        if os.fork() == 0:\n"
            "            os.setsid()\n            time.sleep(100)\n    assert f(1) == 1"
        ),
        HELD,
    ),
    "fork bomb": (
        (
            "import os\n    assert f(1) == 1\n    while True:\n        try:\n            os.fork()\n"
            "        except OSError:\n            pass"
        ),
        TIMED_OUT,
    ),
    "daemon thread": (
        (
            "import threading, time\n"
            "    threading.Thread(target=time.sleep, args=(100,), daemon=True).start()\n"
            "    assert f(1) == 1"
        ),
        HELD,
    ),
    "fails in a thread": (
        (
            "import threading\n    def inner():\n        assert f(1) == 2\n"
            "    t = threading.Thread(target=inner)\n    t.start()\n    t.join()"
        ),
        FAILED,
    ),
    "fails in a child": (
        "import os\n    if os.fork() == 0:\n        assert f(1) == 2\n    os.wait()\n    assert f(1) == 1",
        HELD,
    ),
    "asserts in a child": (
        "import os\n    if os.fork() == 0:\n        assert f(1) == 1\n        os._exit(0)\n    os.wait()",
        EMPTY,
    ),
    "ignores": (
        (
            "import signal, time\n    for one in range(1, 32):\n"
            "        try: signal.signal(one, signal.SIG_IGN)\n"
            "        except (OSError, ValueError): pass\n    time.sleep(100)"
        ),
        TIMED_OUT,
    ),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_case_ends_only_itself(name: str, sandbox: Sandbox) -> None:
    body, outcome = HOSTILE[name]
    spawns = "\ndef spawns():\n    import subprocess\n    assert f(subprocess.call(['true'])) == 0\n"
    source = f"def bad():\n    {body}\n{GOOD}{spawns}"
    # On a busy machine the half that `bad` gets is short, and so is what is left.
    report = run(sandbox, source, "good", "bad", "spawns", limits=Limits(seconds=4, memory_mb=256))
    assert outcomes(report) == [HELD, outcome, HELD], report.to_json()
    assert report.suspicious == ()
    assert (report.outcome is Outcome.PASSED) == (outcome is HELD)


def test_a_case_that_kills_all_that_it_can_ends_the_run_and_forges_nothing(sandbox: Sandbox) -> None:
    source = "import os\ndef bad():\n    assert f(1) == 1\n    os.kill(os.getppid(), 9)\n    f(2)\n" + GOOD
    report = run(sandbox, f"{source}def also():\n    assert f(1) == 1\n", "good", "bad", "also")
    assert report.outcome is Outcome.ERRORED
    # The run may be over before it could say that the case had begun.
    over = [HELD, KILLED, NOT_RUN], [HELD, KILLED, KILLED], [HELD, NOT_RUN, NOT_RUN]
    assert outcomes(report) in over
    assert "ended by SIGKILL" in report.detail


FORGED = {
    "for another": (
        "channel._tag = ['in', 1]\n    channel.send('assertion', 1, 'x', True, '1', '1', True, [], '')\n"
        "    channel.send('end', None, [1], False, [], [1], [], False, 1)"
    ),
    "for the parent": (
        "channel._tag = []\n    channel.send('over', 1, 'ended')\n    channel.send('case', 1)\n"
        "    channel.send('end', None, [1], False, [], [1], [], False, 1)"
    ),
    "twice": (
        "channel.send('assertion', 1, 'x', True, '1', '1', True, [], '')\n"
        "    channel.send('end', None, [1], False, [], [1], [], False, 1)"
    ),
    "noise": "import os\n    os.write(99, b'noise\\n')",
    "noise without an end": "import os\n    os.write(99, b'x' * 70000)",
}


@pytest.mark.parametrize("way", FORGED)
def test_a_case_cannot_speak_for_another(way: str, sandbox: Sandbox) -> None:
    find = "import sys\n    f(1)\n    channel = sys.gettrace().__self__.book.send.__self__"
    wrong = "def wrong():\n    assert f(1) == 2\n"
    source = f"def bad():\n    {find}\n    {FORGED[way]}\n    assert f(1) == 1\n{wrong}"
    report = run(sandbox, source, "bad", "wrong")
    assert outcomes(report)[1] is FAILED
    assert (report.outcome, bool(report.suspicious)) == (Outcome.FAILED, True)
    alone = run(sandbox, source, "bad")
    assert alone.outcome is Outcome.ERRORED and alone.suspicious


def test_a_case_that_prints_without_end_ends_the_run(sandbox: Sandbox) -> None:
    source = "def floods():\n    while True:\n        print('x' * 1000)\n" + GOOD
    report = run(sandbox, source, "good", "floods", "good")
    assert report.outcome is Outcome.OUTPUT_OVERFLOW
    assert outcomes(report) == [HELD, KILLED]
    assert "cases: 2, some of them before the end" in canonical_text(report)


def test_a_case_that_takes_all_memory_ends_the_run(sandbox: Sandbox) -> None:
    source = "def grows():\n    held = []\n    while True:\n        held.append(b'x' * 1_000_000)\n" + GOOD
    report = run(sandbox, source, "grows", "good", limits=Limits(seconds=5, memory_mb=192))
    assert report.outcome is Outcome.OUT_OF_MEMORY
    assert outcomes(report)[0] is KILLED


def test_what_the_program_replaces_for_its_cases_does_not_reach_the_harness(sandbox: Sandbox) -> None:
    source = (
        "import os, time, select, builtins, io, sys\n"
        "time.monotonic = time.sleep = os.fork = os.listdir = os.read = os.waitpid = lambda *a: 0\n"
        "select.poll = builtins.open = os._exit = os.kill = None\nsys.stdout = io.StringIO()\n"
        f"print('kept')\n{GOOD}"
    )
    report = run(sandbox, source, "good", "good")
    assert (report.outcome, outcomes(report), report.stdout) == (Outcome.PASSED, [HELD], "")
