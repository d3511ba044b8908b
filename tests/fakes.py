"""Stand-ins for the language model and the sandbox: a queue of answers and a log of what was asked."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, TypeAlias

from annotation.llm import Reply, Request, Usage
from sandbox import expression_call
from sandbox.program import Limits, Program
from sandbox.protocol import Check
from sandbox.reports.report import Assertion, CaseOutcome, CaseResult, Outcome, Report

Answer: TypeAlias = "str | Mapping[str, object] | Exception | Callable[[Request], str | Mapping[str, object]]"
Ran: TypeAlias = "Report | Exception | Callable[[Program], Report]"


class FakeLLM:
    """Answers from a queue; the last answer stays. `calls` holds every request, in order."""

    def __init__(self, *answers: Answer, name: str = "fake", usage: Usage | None = None) -> None:
        self.name = name
        self.calls: list[Request] = []
        self.usage = usage or Usage(input_tokens=500, output_tokens=60)
        self._answers: deque[Answer] = deque(answers)

    def ask(self, request: Request) -> Reply:
        """The next answer. Raises it where it is an exception."""
        self.calls.append(request)
        answer = self._answers.popleft() if len(self._answers) > 1 else self._answers[0]
        if isinstance(answer, Exception):
            raise answer
        said = answer(request) if callable(answer) else answer
        text = said if isinstance(said, str) else json.dumps(dict(said))
        return Reply(text, request.model, self.usage, 0.01, f"fake-{len(self.calls)}", "end_turn")


class FakeSandbox:
    """Reports from a queue; the last one stays, and without any every program passes one assertion.

    `answers` is the queue for calls; at first each gives 3.
    """

    name = "fake"
    image = "fake"

    def __init__(self, *reports: Ran) -> None:
        self.runs: list[Program] = []
        self.calls: list[expression_call.Call] = []
        self.answers: deque[expression_call.Answer | Exception] = deque([returned()])
        self.installed: list[tuple[str, ...]] = []
        self.closed = False
        self._reports: deque[Ran] = deque(reports or (passed(),))

    def run(self, program: Program, limits: Limits) -> Report:
        """The next report. Raises it where it is an exception."""
        self.runs.append(program)
        found = self._reports.popleft() if len(self._reports) > 1 else self._reports[0]
        if isinstance(found, Exception):
            raise found
        return with_cases(found(program) if callable(found) else found, program)

    def call(self, call: expression_call.Call, limits: Limits) -> expression_call.Answer:
        """The next answer. Raises it where it is an exception."""
        self.calls.append(call)
        found = self.answers.popleft() if len(self.answers) > 1 else self.answers[0]
        if isinstance(found, Exception):
            raise found
        return found

    def install(self, requirements: tuple[str, ...]) -> None:
        self.installed.append(requirements)

    def check(self) -> tuple[Check, ...]:
        return (Check("fake", ok=True, found="nothing is executed"),)

    def reap(self) -> int:
        return 0

    def close(self) -> None:
        self.closed = True


def with_cases(report: Report, program: Program) -> Report:
    """The report, in which each case of the program ends as the whole run did."""
    if not program.cases or report.case_results:
        return report
    outcome = CaseOutcome.HELD if report.outcome is Outcome.PASSED else CaseOutcome.FAILED
    results = tuple(CaseResult(name, outcome, 1, 0, report.touched) for name in program.cases)
    return replace(report, case_results=results)


def returned(value: str = "3", kind: str = "int", **fields: Any) -> expression_call.Answer:
    """An answer with a value."""
    defaults: dict[str, Any] = {"seconds": 0.02, "backend": "fake", "candidate_hash": "0" * 64}
    return expression_call.Answer(expression_call.CallOutcome.RETURNED, value, kind, **{**defaults, **fields})


def passed() -> Report:
    """A report of one assertion that touched the candidate and held."""
    return Report(Outcome.PASSED, (Assertion(1, "assert f(1) == 1", True, "1", "1", True),), backend="fake")
