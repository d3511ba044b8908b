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

from annotation.jobs.providers import open_configured
from bench.measure.clock import Work, measure_latencies, median_and_p95, rates_in_turns
from bench.measure.processor_share import profile_processor_time
from bench.sandbox import rivals
from sandbox.expression_call import CALL_LIMITS, Call, CallOutcome
from sandbox.program import Limits, Program
from sandbox.reports.canonical import canonical_text
from sandbox.reports.report import Report
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
PANDAS: Final = Program(f"import pandas\n{CANDIDATE}", PROGRAM)
CALL: Final = Call(CANDIDATE, "total([1, 2, 3])")

Figures = dict[str, object]


def measure_sandbox() -> Mapping[str, object]:
    """Programs a second, milliseconds (median, p95) and their ratios; a backend that is not here is named.

    Raises SandboxUnavailable when neither backend is here.
    """
    with ExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory()))
        script = folder / "program.py"
        script.write_text(f"{CANDIDATE}\n{PROGRAM}")
        boxes, missing = open_working_backends(stack)
        forked = open_forking_sandbox(stack, missing) if "bubblewrap" in boxes else None
        ratios: dict[str, float] = {}
        found: Figures = {"ratios": ratios, "missing": missing}
        if "bubblewrap" in boxes:
            found["bubblewrap"] = of_bubblewrap(boxes["bubblewrap"], forked, script, ratios)
        if "docker" in boxes:
            found["docker"] = of_docker(boxes["docker"], folder, ratios)
        found["memory"] = measure_sandbox_memory(next(iter(boxes.values())))
        return found


def open_working_backends(stack: ExitStack) -> tuple[dict[Backend, Sandbox], dict[str, str]]:
    """The backends that work here, and why the others don't."""
    boxes: dict[Backend, Sandbox] = {}
    missing: dict[str, str] = {}
    names: tuple[Backend, ...] = ("bubblewrap", "docker")
    for name in names:
        try:
            boxes[name] = stack.enter_context(open_warm_sandbox(name))
        except SandboxUnavailable as why:
            missing[name] = str(why)
    if not boxes:
        raise SandboxUnavailable("; ".join(missing.values()))
    return boxes, missing


def open_forking_sandbox(stack: ExitStack, missing: dict[str, str]) -> Sandbox | None:
    """Bubblewrap's sandboxes, forked; None, with the reason, where that does not work."""
    try:
        return stack.enter_context(open_warm_sandbox("bubblewrap", forks=True))
    except SandboxUnavailable as why:
        missing["forked"] = str(why)
        return None


@contextmanager
def open_warm_sandbox(backend: Backend, forks: bool = False) -> Iterator[Sandbox]:
    """A sandbox that has run once, so that what it installs is there."""
    sandbox = open_configured(backend, forks=forks)
    try:
        run_passing_program(sandbox, TRACED)
        yield sandbox
    finally:
        sandbox.close()


def of_bubblewrap(
    sandbox: Sandbox, forked: Sandbox | None, script: Path, ratios: dict[str, float]
) -> Figures:
    works: dict[str, Work] = {
        "bare": rivals.prepare_bare_interpreter(script),
        "untraced": lambda: run_passing_program(sandbox, UNTRACED),
        "traced": lambda: run_passing_program(sandbox, TRACED),
    }
    if forked:
        works["forked"] = lambda: run_passing_program(forked, UNTRACED)
        works["forked_traced"] = lambda: run_passing_program(forked, TRACED)
        works["pandas"] = lambda: run_passing_program(sandbox, PANDAS)
        works["forked_pandas"] = lambda: run_passing_program(forked, PANDAS)
        works["forked_pandas"]()
    rates = rates_in_turns(works, PROGRAMS, CALLERS)
    if forked:
        ratios["forked_throughput"] = rates.ratio("forked", "bare")
        ratios["forked_traced_throughput"] = rates.ratio("forked_traced", "bare")
        ratios["forked_pandas_throughput"] = rates.ratio("forked_pandas", "pandas")
    ratios["bubblewrap_throughput"] = rates.ratio("untraced", "bare")
    ratios["bubblewrap_traced_throughput"] = rates.ratio("traced", "bare")
    alone = {**works, "call": lambda: call_sandbox_candidate(sandbox)}
    found = {name: median_and_p95(measure_latencies(work, ALONE)) for name, work in alone.items()}
    return {
        "programs_per_second": rates.medians(),
        "milliseconds": {**found, "call_in_a_build": calls_in_a_build("bubblewrap", sandbox)},
        "processor_milliseconds": profile_processor_time(
            lambda: run_passing_program(sandbox, TRACED), PROGRAMS, CALLERS
        ),
    }


def of_docker(sandbox: Sandbox, folder: Path, ratios: dict[str, float]) -> Figures:
    naively = rivals.docker_run(folder, sandbox.image.partition(":")[2], CANDIDATE + PROGRAM)
    works: dict[str, Work] = {"naive": naively, "pool": lambda: run_passing_program(sandbox, TRACED)}
    warm = median_and_p95(measure_latencies(works["pool"], ALONE, pause=REFILL_SECONDS))
    called = median_and_p95(
        measure_latencies(lambda: call_sandbox_candidate(sandbox), ALONE, pause=REFILL_SECONDS)
    )
    fresh = median_and_p95(measure_latencies(naively, ALONE))
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
        "processor_milliseconds": profile_processor_time(
            lambda: run_passing_program(sandbox, TRACED), CONTAINERS, DOCKER_CALLERS
        ),
    }


def calls_in_a_build(backend: Backend, sandbox: Sandbox) -> dict[str, float]:
    """Calls in a sandbox reserved for people, while programs fill the other one as a build does."""
    with open_warm_sandbox(backend) as reserved, saturate_sandbox(sandbox):
        return median_and_p95(
            measure_latencies(lambda: call_sandbox_candidate(reserved), ALONE, pause=REFILL_SECONDS)
        )


@contextmanager
def saturate_sandbox(sandbox: Sandbox) -> Iterator[None]:
    """Programs at full speed until the block ends."""
    over = threading.Event()

    def work() -> None:
        while not over.is_set():
            run_passing_program(sandbox, TRACED)

    with ThreadPoolExecutor(CALLERS) as pool:
        callers = [pool.submit(work) for _ in range(CALLERS)]
        try:
            yield
        finally:
            over.set()
        for caller in callers:
            caller.result()


def measure_sandbox_memory(sandbox: Sandbox) -> Figures:
    """How much this process grows while it has programs run."""
    run_passing_program(sandbox, TRACED)
    before = resident_mb()
    for _ in range(MEMORY_PROGRAMS):
        run_passing_program(sandbox, TRACED)
    return {"programs": MEMORY_PROGRAMS, "growth_mb": round(resident_mb() - before, 1)}


def resident_mb() -> float:
    """Resident memory of this process in MB."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() / 1e6


def run_passing_program(sandbox: Sandbox, program: Program) -> Report:
    """Its report; raises SandboxUnavailable unless it passed, since a failure's time says nothing."""
    report = sandbox.run(program, Limits())
    if report.outcome != "passed":
        raise SandboxUnavailable(f"the bench's program did not pass: {canonical_text(report)}")
    return report


def call_sandbox_candidate(sandbox: Sandbox) -> None:
    """Ask the candidate; raises SandboxUnavailable unless it answered."""
    answer = sandbox.call(CALL, CALL_LIMITS)
    if answer.outcome is not CallOutcome.RETURNED:
        raise SandboxUnavailable(f"the bench's call did not return: {answer.to_json()}")
