"""One expression beside a candidate: what a person asks of the code, contained as any program is."""

import ast
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from enum import StrEnum
from typing import Any, Self

from sandbox.candidate.syntax import TooComplex, parse_python_source
from sandbox.plan import ExecutionPlan
from sandbox.program import Limits, Program
from sandbox.reports.diagnosis import diagnose_run
from sandbox.reports.observation import Observation
from sandbox.reports.report import Frame, Outcome, Raised, Report

CALL_LIMITS = Limits(seconds=5.0, trace_steps=0, value_chars=4000)
"""Somebody waits for the answer and reads all of it. Containers for a run under the usual limits fit."""
LONGEST_EXPRESSION = 10_000
_FROM_OUTSIDE = frozenset(
    {
        Outcome.TIMED_OUT,
        Outcome.OUT_OF_MEMORY,
        Outcome.OUTPUT_OVERFLOW,
        Outcome.DEPENDENCY_REFUSED,
        Outcome.UNAVAILABLE,
    }
)
NO_PLAN = ExecutionPlan((), (), (), (), False)


class CallOutcome(StrEnum):
    """How a call ended: what a report calls passed or failed needs assertions, of which a call has none."""

    RETURNED = "returned"
    RAISED = "raised"
    ERRORED = Outcome.ERRORED.value
    TIMED_OUT = Outcome.TIMED_OUT.value
    OUT_OF_MEMORY = Outcome.OUT_OF_MEMORY.value
    OUTPUT_OVERFLOW = Outcome.OUTPUT_OVERFLOW.value
    DEPENDENCY_REFUSED = Outcome.DEPENDENCY_REFUSED.value
    UNAVAILABLE = Outcome.UNAVAILABLE.value


class BadExpression(ValueError):
    """The text has no value that could be asked for; the message says what to change."""


@dataclass(frozen=True, slots=True)
class Call:
    """A candidate and an expression that uses its names, such as `f([1, ""])`. Raises BadExpression.

    Simple statements may come first: `import math; f(math.pi)`. `dependencies` are as in Program.
    """

    candidate: str
    expression: str
    dependencies: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        _checked(self.expression)

    @property
    def program(self) -> Program:
        """The call as a program: hashes, dependencies."""
        return Program(self.candidate, self.expression.strip(), self.dependencies, trace=False)


@dataclass(frozen=True, slots=True)
class Answer:
    """What came of one call. `value` is bounded text, with `type` its class, and None without a value.

    Frames of `raised` count lines of the candidate, or of the expression as `program`. Times are seconds.
    """

    outcome: CallOutcome
    value: str | None = None
    type: str = ""
    stdout: str = ""
    stderr: str = ""
    output_truncated: bool = False
    raised: Raised | None = None
    missing_module: str | None = None
    suspicious: tuple[str, ...] = ()
    candidate_hash: str = ""
    seconds: float = 0.0
    queued_seconds: float = 0.0
    peak_mb: float | None = None
    backend: str = ""
    detail: str = ""

    def to_json(self) -> str:
        """All of the answer as one line of JSON."""
        return json.dumps(asdict(self), ensure_ascii=False, sort_keys=True)

    @classmethod
    def from_json(cls, text: str) -> Self:
        """The answer that `to_json` wrote; keys that this version does not know are left out."""
        known = {field.name for field in fields(cls)}
        values: dict[str, Any] = {key: load for key, load in json.loads(text).items() if key in known}
        values["outcome"] = CallOutcome(values["outcome"])
        values["suspicious"] = tuple(values.get("suspicious", ()))
        values["raised"] = _raised(values["raised"]) if values.get("raised") else None
        return cls(**values)


def build_call_answer(call: Call, limits: Limits, seen: Observation, **known: Any) -> Answer:
    """The answer of a run; `known` are the fields that only the backend knows (backend, queued_seconds)."""
    report = diagnose_run(call.program, NO_PLAN, limits, seen, **known)
    values = list(seen.of("value"))
    outcome, ended = _outcome(report, len(values)), any(True for _ in seen.of("end"))
    kind, value = _shown(values[0], limits) if outcome is CallOutcome.RETURNED else ("", None)
    return _answer(report, outcome, _detail(report, outcome, ended), value=value, type=kind)


def not_called(report: Report) -> Answer:
    """The answer where nothing was run, as the report of the same says."""
    return _answer(report, CallOutcome(report.outcome.value), report.detail)


def _answer(report: Report, outcome: CallOutcome, detail: str, **more: Any) -> Answer:
    shared = {field.name for field in fields(Answer)} & {field.name for field in fields(Report)}
    alike = {name: getattr(report, name) for name in shared}
    return Answer(**{**alike, **more, "outcome": outcome, "detail": detail})


def _outcome(report: Report, values: int) -> CallOutcome:
    if report.outcome in _FROM_OUTSIDE:
        return CallOutcome(report.outcome.value)
    if report.raised is not None:
        return CallOutcome.RAISED
    # One value, an end after it, and nobody else in the record.
    return CallOutcome.RETURNED if values == 1 and not report.suspicious else CallOutcome.ERRORED


def _detail(report: Report, outcome: CallOutcome, ended: bool) -> str:
    if outcome in (CallOutcome.RETURNED, CallOutcome.RAISED):
        return ""
    # What a report says of an end without assertions is not said of a call.
    if outcome is CallOutcome.ERRORED and ended:
        return "its value cannot be relied on" if report.suspicious else "it ended without a value"
    return report.detail


def _shown(record: tuple[Any, ...], limits: Limits) -> tuple[str, str]:
    kind, value = (_storable(str(one)) for one in (*record, "", "")[:2])
    return kind[:200], value[: limits.value_chars]


def _storable(text: str) -> str:
    # A class writes its own name and repr: what no database takes is escaped.
    return text.encode("utf-8", "backslashreplace").decode().replace("\0", "␀")


def _raised(data: Mapping[str, Any]) -> Raised:
    return Raised(data["type"], data["message"], tuple(Frame(**frame) for frame in data["frames"]))


def _checked(expression: str) -> None:
    if not expression.strip():
        raise BadExpression("There is nothing to call. Write an expression such as f(1).")
    if len(expression) > LONGEST_EXPRESSION:
        raise BadExpression(f"An expression has at most {LONGEST_EXPRESSION:,} characters.")
    try:
        statements = parse_python_source(expression.strip()).body
    except SyntaxError as error:
        raise BadExpression(f"Python can't read it: {error.msg}, column {error.offset or 1}.") from error
    except TooComplex as error:
        raise BadExpression(f"Python can't read it: it {error}.") from error
    except ValueError as error:
        raise BadExpression(f"Python can't read it: {error}.") from error
    if not statements or not isinstance(statements[-1], ast.Expr):
        raise BadExpression("A statement has no value. End with an expression such as f(1).")
