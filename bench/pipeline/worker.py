"""A worker process of the bench: the product's own loop, with the sandbox replaced by a recorded report."""

from __future__ import annotations

import os
import sys
import threading
from dataclasses import replace
from typing import Final

from django.conf import settings

from annotation.builds.pipeline.advance import Tools
from annotation.builds.pipeline.execution import SandboxProvider
from annotation.jobs.providers import llm_of
from annotation.jobs.worker import start_worker_threads
from bench.pipeline.processes import NICE
from bench.seed.texts import make_execution_report
from sandbox.expression_call import Answer, Call
from sandbox.program import Limits, Program
from sandbox.protocol import Check
from sandbox.reports.report import Outcome, Raised, Report

MODULE: Final = "bench_colours"
RECORDED: Final = make_execution_report(1, "", "")
LACKING: Final = Report(
    Outcome.ERRORED,
    raised=Raised("ModuleNotFoundError", f"No module named '{MODULE}'"),
    missing_module=MODULE,
    backend="bench",
)


class RecordedSandbox:
    """The same report for each program, at once; one that imports the module needs it installed."""

    name = "bench"
    image = "bench"

    def run(self, program: Program, limits: Limits) -> Report:
        lacks = f"import {MODULE}" in program.source and not program.dependencies
        return replace(LACKING if lacks else RECORDED, candidate_hash=program.candidate_hash)

    def call(self, call: Call, limits: Limits) -> Answer:
        raise NotImplementedError("nobody calls while the bench runs")

    def install(self, requirements: tuple[str, ...]) -> None:
        """Nothing is installed."""

    def check(self) -> tuple[Check, ...]:
        return (Check("recorded", ok=True, found="nothing is executed"),)

    def reap(self) -> int:
        return 0

    def close(self) -> None:
        """Nothing is open."""


def main() -> None:
    """Work until standard input ends, behind people's pages, as docs/running.md has it.

    What is in the air then is thrown away, as its database will be.
    """
    os.nice(NICE)
    tools = Tools(llm_of=llm_of, sandbox=SandboxProvider(RecordedSandbox))
    counts = {"llm": settings.LLM_WORKERS, "sandbox": settings.SANDBOX_WORKERS, "control": 1}
    start_worker_threads(counts, tools, threading.Event())
    sys.stdin.read()
    os._exit(0)
