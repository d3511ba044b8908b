"""The machine's faults are tried again and never become evidence; the program's are told once."""

import json
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sandbox.backends import execution
from sandbox.backends.execution import (
    HarnessLost,
    NotStarted,
    Packages,
    Reply,
    Runner,
    longest_wall_seconds,
    read_reply,
)
from sandbox.backends.queue import Queue
from sandbox.program import Limits, Program
from sandbox.protocol import SandboxUnavailable
from sandbox.reports.observation import Garbled
from sandbox.reports.report import Outcome, Report

PROGRAM = Program("def f(x):\n    return x\n", "assert f(1) == 1\n")
FELL = json.dumps(
    {
        "records": ['["ready"]'],
        "foreign": 0,
        "stdout": "",
        "stderr": "",
        "output_bytes": [0, 0],
        "status": 9,
        "stopped": "",
        "seconds": 0.1,
        "cpu_seconds": 0.1,
        "peak": 0,
        "oom_kills": 0,
        "left": 0,
    }
).encode()
Answer = bytes | Reply | Exception


class Backend:
    """Answers in order, the last one again and again."""

    def __init__(self, *answers: Answer) -> None:
        self.answers, self.fresh = list(answers), list[bool]()
        self.runner = Runner("fake", Queue(1), False, lambda program: Packages(), self._exchange)

    def run(self) -> Report:
        return self.runner.run(PROGRAM, Limits())

    def _exchange(self, message: bytes, limits: Limits, packages: Packages, fresh: bool) -> Reply:
        self.fresh.append(fresh)
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, Exception):
            raise answer
        return answer if isinstance(answer, Reply) else Reply(answer)


@pytest.fixture(autouse=True)
def _no_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(execution, "_PAUSE_SECONDS", 0)


@pytest.mark.parametrize(
    ("answers", "outcome", "attempts"),
    [
        ((NotStarted("busy"), NotStarted("busy"), FELL), Outcome.ERRORED, 3),
        ((NotStarted("busy"),), Outcome.UNAVAILABLE, 3),
        ((HarnessLost("gone"), FELL), Outcome.ERRORED, 2),
        ((HarnessLost("gone"),), Outcome.UNAVAILABLE, 2),
        ((Garbled("noise"), FELL), Outcome.ERRORED, 2),
        ((Garbled("noise"), HarnessLost("gone"), FELL), Outcome.UNAVAILABLE, 2),
        ((NotStarted("busy"), HarnessLost("gone"), FELL), Outcome.ERRORED, 3),
        ((b"\0 no reply",), Outcome.UNAVAILABLE, 2),
        ((Reply(b"", oom_kills=1),), Outcome.OUT_OF_MEMORY, 1),
        ((SandboxUnavailable("closed"),), Outcome.UNAVAILABLE, 1),
    ],
)
def test_what_is_tried_again_and_what_comes_of_it(
    answers: tuple[Answer, ...], outcome: Outcome, attempts: int
) -> None:
    backend = Backend(*answers)
    assert backend.run().outcome is outcome
    assert backend.fresh == [False, True, True][:attempts]


def test_a_program_that_was_never_run_and_one_whose_sandbox_was_lost_are_told_apart() -> None:
    assert Backend(NotStarted("no space left")).run().detail == (
        "the program was not run: no space left. Try again later"
    )
    lost = Backend(HarnessLost("it hung up")).run().detail
    assert lost.startswith("no verdict: the sandbox was lost 2 times, perhaps by the program itself")
    assert lost.endswith("it hung up")


def test_a_machine_that_was_too_busy_is_no_timeout() -> None:
    busy = json.loads(FELL) | {"stopped": "busy", "seconds": 80.0, "cpu_seconds": 0.4}
    report = Backend(json.dumps(busy).encode()).run()
    assert report.outcome is Outcome.UNAVAILABLE
    assert "the machine was too busy, the program had 0.4 s of a processor in 80 s" in report.detail


@pytest.mark.parametrize("fault", [NotStarted("busy"), SandboxUnavailable("closed"), ZeroDivisionError()])
def test_the_place_in_the_queue_is_given_back_after_any_fault(fault: Exception) -> None:
    backend = Backend(fault)
    for _ in range(2):
        try:
            backend.run()
        except ZeroDivisionError:
            continue
    backend.answers = [FELL]
    assert backend.run().outcome is Outcome.ERRORED


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)


@settings(deadline=None)
@given(field=st.sampled_from(sorted(json.loads(FELL))), value=json_values)
def test_any_garbage_gives_one_report(field: str, value: object) -> None:
    reply = json.dumps(json.loads(FELL) | {field: value}).encode()
    assert isinstance(Backend(reply).run(), Report)


@given(noise=st.binary(max_size=40))
def test_bytes_that_are_no_reply_are_no_evidence(noise: bytes) -> None:
    assert Backend(noise or b"?").run().outcome is Outcome.UNAVAILABLE


def _reader(data: bytes, sizes: list[int]) -> Callable[[int], bytes]:
    rest, steps = bytearray(data), list(sizes)

    def read(at_most: int) -> bytes:
        size = min(at_most, steps.pop() if steps else 1 << 16)
        part = bytes(rest[:size])
        del rest[:size]
        return part

    return read


@given(data=st.binary(max_size=200), sizes=st.lists(st.integers(1, 7), max_size=60))
def test_a_reply_is_read_whole_however_it_arrives(data: bytes, sizes: list[int]) -> None:
    assert read_reply(_reader(len(data).to_bytes(4, "big") + data, sizes)) == data


@given(data=st.binary(min_size=1, max_size=50), kept=st.integers(0, 1000))
def test_a_reply_that_was_cut_is_lost(data: bytes, kept: int) -> None:
    whole = len(data).to_bytes(4, "big") + data
    with pytest.raises(HarnessLost):
        read_reply(_reader(whole[: kept % len(whole)], []))


def test_a_reply_that_announces_too_much_is_not_awaited() -> None:
    with pytest.raises(Garbled):
        read_reply(_reader(b"\xff\xff\xff\xff", []))


def test_a_run_may_take_longer_than_its_time_when_others_have_the_processor() -> None:
    assert longest_wall_seconds(Limits(seconds=2)) > 2 * 2


def test_what_the_kernel_killed_for_others_sake_gives_no_verdict() -> None:
    starved = json.dumps({**json.loads(FELL), "stopped": "starved"}).encode()
    report = Backend(starved).run()
    assert report.outcome is Outcome.UNAVAILABLE and "the machine ran out of memory" in report.detail
