"""The sandbox against what protects nothing (bare `python -I`) and against the naive way (`docker run --rm`).

All are measured in rounds that take turns, so that a busy moment of the machine meets each of them.
"""

from __future__ import annotations

import resource
import threading
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from annotation.tools import open_configured
from cosqa_site.benches import naive
from cosqa_site.benches.clock import Work, latencies, median_and_p95, rates_in_turns
from cosqa_site.benches.profile import profile
from sandbox.calling import CALL_LIMITS, Call, CallOutcome
from sandbox.program import Limits, Program
from sandbox.report import Report
from sandbox.runner import Backend, Sandbox, SandboxUnavailable

CALLERS: Final = 4
DOCKER_CALLERS: Final = 2
PROGRAMS: Final = 60
CONTAINERS: Final = 24
ALONE: Final = 20
REFILL_SECONDS: Final = 0.5
MEMORY_PROGRAMS: Final = 2000
CANDIDATE: Final = (
    "def total(items):\n    result = 0\n    for item in items:\n        result += item\n    return result\n"
)
PROGRAM: Final = "def main():\n    assert total([1, 2, 3]) == 6\n    assert total([]) == 0\n\n\nmain()\n"
TRACED: Final = Program(candidate=CANDIDATE, source=PROGRAM)
UNTRACED: Final = replace(TRACED, trace=False)
CALL: Final = Call(CANDIDATE, "total([1, 2, 3])")

Figures = dict[str, object]


def measure() -> Mapping[str, object]:
    """Programs a second, milliseconds (median, p95) and their ratios; a backend that is not here is named.

    Raises SandboxUnavailable when neither backend is here.
    """
    with ExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory()))
        script = folder / "program.py"
        script.write_text(f"{CANDIDATE}\n{PROGRAM}")
        boxes, missing = backends(stack)
        ratios: dict[str, float] = {}
        found: Figures = {"ratios": ratios, "missing": missing}
        if "bubblewrap" in boxes:
            found["bubblewrap"] = of_bubblewrap(boxes["bubblewrap"], script, ratios)
        if "docker" in boxes:
            found["docker"] = of_docker(boxes["docker"], folder, ratios)
        found["memory"] = memory(next(iter(boxes.values())))
        return found


def backends(stack: ExitStack) -> tuple[dict[Backend, Sandbox], dict[Backend, str]]:
    """The backends that work here, and why the others don't."""
    boxes: dict[Backend, Sandbox] = {}
    missing: dict[Backend, str] = {}
    names: tuple[Backend, ...] = ("bubblewrap", "docker")
    for name in names:
        try:
            boxes[name] = stack.enter_context(box(name))
        except SandboxUnavailable as why:
            missing[name] = str(why)
    if not boxes:
        raise SandboxUnavailable("; ".join(missing.values()))
    return boxes, missing


@contextmanager
def box(backend: Backend) -> Iterator[Sandbox]:
    """A sandbox that has run once, so that what it installs is there."""
    sandbox = open_configured(backend)
    try:
        run(sandbox, TRACED)
        yield sandbox
    finally:
        sandbox.close()


def of_bubblewrap(sandbox: Sandbox, script: Path, ratios: dict[str, float]) -> Figures:
    works: dict[str, Work] = {
        "bare": naive.bare(script),
        "untraced": lambda: run(sandbox, UNTRACED),
        "traced": lambda: run(sandbox, TRACED),
    }
    rates = rates_in_turns(works, PROGRAMS, CALLERS)
    ratios["bubblewrap_throughput"] = rates.ratio("untraced", "bare")
    ratios["bubblewrap_traced_throughput"] = rates.ratio("traced", "bare")
    alone = {**works, "call": lambda: call(sandbox)}
    found = {name: median_and_p95(latencies(work, ALONE)) for name, work in alone.items()}
    return {
        "programs_per_second": rates.medians(),
        "milliseconds": {**found, "call_in_a_build": calls_in_a_build("bubblewrap", sandbox)},
        "processor_milliseconds": profile(lambda: run(sandbox, TRACED), PROGRAMS, CALLERS),
    }


def of_docker(sandbox: Sandbox, folder: Path, ratios: dict[str, float]) -> Figures:
    naively = naive.docker_run(folder, sandbox.image.partition(":")[2], CANDIDATE + PROGRAM)
    works: dict[str, Work] = {"naive": naively, "pool": lambda: run(sandbox, TRACED)}
    warm = median_and_p95(latencies(works["pool"], ALONE, pause=REFILL_SECONDS))
    called = median_and_p95(latencies(lambda: call(sandbox), ALONE, pause=REFILL_SECONDS))
    fresh = median_and_p95(latencies(naively, ALONE))
    rates = rates_in_turns(works, CONTAINERS, DOCKER_CALLERS)
    ratios["docker_warm_latency"] = round(warm["median"] / fresh["median"], 3)
    ratios["docker_throughput"] = rates.ratio("pool", "naive")
    return {
        "programs_per_second": rates.medians(),
        "milliseconds": {
            "naive": fresh,
            "warm": warm,
            "call": called,
            "call_in_a_build": calls_in_a_build("docker", sandbox),
        },
        "processor_milliseconds": profile(lambda: run(sandbox, TRACED), CONTAINERS, DOCKER_CALLERS),
    }


def calls_in_a_build(backend: Backend, sandbox: Sandbox) -> dict[str, float]:
    """Calls in a sandbox reserved for people, while programs fill the other one as a build does."""
    with box(backend) as reserved, filled(sandbox):
        return median_and_p95(latencies(lambda: call(reserved), ALONE, pause=REFILL_SECONDS))


@contextmanager
def filled(sandbox: Sandbox) -> Iterator[None]:
    """Programs at full speed until the block ends."""
    over = threading.Event()

    def work() -> None:
        while not over.is_set():
            run(sandbox, TRACED)

    with ThreadPoolExecutor(CALLERS) as pool:
        callers = [pool.submit(work) for _ in range(CALLERS)]
        try:
            yield
        finally:
            over.set()
        for caller in callers:
            caller.result()


def memory(sandbox: Sandbox) -> Figures:
    """How much this process grows while it has programs run."""
    run(sandbox, TRACED)
    before = resident_mb()
    for _ in range(MEMORY_PROGRAMS):
        run(sandbox, TRACED)
    return {"programs": MEMORY_PROGRAMS, "growth_mb": round(resident_mb() - before, 1)}


def resident_mb() -> float:
    """Resident memory of this process in MB."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() / 1e6


def run(sandbox: Sandbox, program: Program) -> Report:
    """Its report; raises SandboxUnavailable unless it passed, since a failure's time says nothing."""
    report = sandbox.run(program, Limits())
    if report.outcome != "passed":
        raise SandboxUnavailable(f"the bench's program did not pass: {report.canonical()}")
    return report


def call(sandbox: Sandbox) -> None:
    """Ask the candidate; raises SandboxUnavailable unless it answered."""
    answer = sandbox.call(CALL, CALL_LIMITS)
    if answer.outcome is not CallOutcome.RETURNED:
        raise SandboxUnavailable(f"the bench's call did not return: {answer.to_json()}")
