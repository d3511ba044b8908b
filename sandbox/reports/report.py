"""What happened in one run, as frozen data. A report says what was executed, never what it means."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields
from typing import Any, Self

from sandbox.reports.inequality import Inequality, explain_inequality
from sandbox.reports.outcome import CaseOutcome, Outcome, OwnWord
from sandbox.reports.trace import CandidateCall, TraceLoop, TracePass, TraceStep, items_from

__all__ = [
    "Assertion",
    "CandidateCall",
    "CaseOutcome",
    "CaseResult",
    "Frame",
    "Outcome",
    "OwnWord",
    "Raised",
    "Rates",
    "Report",
    "TestCase",
    "TraceLoop",
    "TracePass",
    "TraceStep",
    "find_unproven_lines",
]

_ENVIRONMENT_ERRORS = frozenset(
    {"SyntaxError", "IndentationError", "TabError", "ImportError", "ModuleNotFoundError"}
)
_NEVER_STARTED = (Outcome.UNAVAILABLE, Outcome.DEPENDENCY_REFUSED)


@dataclass(frozen=True, slots=True)
class Assertion:
    """One assertion of the test program, as evaluated; `count` folds evaluations that were alike.

    `left` and `right` are the compared values (the first and the last one reached of a chain), or the value
    alone in `left`. `touched`: the candidate ran while it was evaluated, or it had run before and the
    assertion's names lead back to it through the program's assignments and calls. `calls` are the numbers of
    the candidate's calls that it checked, at its first evaluation. `case` is the test case it belongs to.
    `own_word`: of one that held, whether it did so by the candidate's own word.
    """

    line: int
    source: str
    passed: bool
    left: str | None = None
    right: str | None = None
    touched: bool = False
    count: int = 1
    calls: tuple[int, ...] = ()
    case: str = ""
    own_word: OwnWord = OwnWord.NONE

    @property
    def inequality(self) -> Inequality | None:
        """What a failed equality got and expected; None where it held, or that is not known."""
        return None if self.passed else explain_inequality(self.source, self.left, self.right)


def find_unproven_lines(assertions: Iterable[Assertion]) -> tuple[int, ...]:
    """Lines that held by the candidate's own word, where none of the other assertions makes up for that."""
    held = [assertion for assertion in assertions if assertion.passed]
    is_proven = any(assertion.touched and not assertion.own_word for assertion in held)
    words = {OwnWord.FEIGNED} if is_proven else {OwnWord.FEIGNED, OwnWord.CLASS}
    return tuple(sorted({assertion.line for assertion in held if assertion.own_word in words}))


@dataclass(frozen=True, slots=True)
class TestCase:
    """A block that the program names, with how many of its assertions were evaluated and how many failed."""

    __test__ = False  # no test class: keeps pytest from collecting it

    name: str
    assertions: int
    failed: int


@dataclass(frozen=True, slots=True)
class Frame:
    """One level of a traceback. `place` is program, candidate or library; lines count from 1 in that text."""

    place: str
    line: int
    function: str
    source: str = ""


@dataclass(frozen=True, slots=True)
class Raised:
    """The exception that ended the program, outermost frame first."""

    type: str
    message: str
    frames: tuple[Frame, ...] = ()


@dataclass(frozen=True, slots=True)
class CaseResult:
    """How a case of the program ended that ran by itself, see Program.cases.

    `assertions` were evaluated, `failed` of them did not hold. `touched`: at least one touched the candidate.
    """

    name: str
    outcome: CaseOutcome
    assertions: int = 0
    failed: int = 0
    touched: bool = False
    raised: Raised | None = None


@dataclass(frozen=True, slots=True)
class Rates:
    """How many of `programs` generated test programs ran, asserted and touched the candidate.

    Every program whose execution is over counts, however it ended; see Report for the three words.
    """

    programs: int = 0
    ran: int = 0
    asserted: int = 0
    touched: int = 0

    @classmethod
    def of(cls, reports: Iterable["Report"]) -> Self:
        """The rates of some reports; what was unavailable says nothing and is left out."""
        known = [report for report in reports if report.outcome.is_evidence]
        return cls(
            programs=len(known),
            ran=sum(report.ran for report in known),
            asserted=sum(report.asserted for report in known),
            touched=sum(report.touched for report in known),
        )

    @property
    def executable(self) -> float | None:
        """The executable rate: ran ÷ programs, failures included; None before the first program."""
        return self.ran / self.programs if self.programs else None


@dataclass(frozen=True, slots=True)
class Report:
    """One run of one program, as far as it is known. Times are seconds, `peak_mb` is None where not measured.

    `lines_reached` and `lines_missed` split the candidate's executable lines; both are empty when tracing was
    off or stopped early, because then nothing can be said about what was never reached. `calls` are the first
    of `calls_made` calls into the candidate. `turns` are the characters that were printed to `stdout`, then
    to `stderr`, then to `stdout` …, empty where their order is not known. `flaky` has the outcome of each of
    several runs whose reports disagree. `applied_as`: the name under which the program found the candidate.
    `case_results`: of a program with cases, each of them in its order; trace and calls have theirs one after
    another, and `calls` the first of each.
    """

    outcome: Outcome
    assertions: tuple[Assertion, ...] = ()
    stdout: str = ""
    stderr: str = ""
    output_truncated: bool = False
    turns: tuple[int, ...] = ()
    trace: tuple[TraceStep | TraceLoop, ...] = ()
    trace_truncated: bool = False
    calls: tuple[CandidateCall, ...] = ()
    calls_made: int = 0
    raised: Raised | None = None
    missing_module: str | None = None
    reached: bool = False
    redefined: bool = False
    suspicious: tuple[str, ...] = ()
    candidate_hash: str = ""
    applied_as: str = ""
    lines_reached: tuple[int, ...] = ()
    lines_missed: tuple[int, ...] = ()
    flaky: tuple[str, ...] = ()
    seconds: float = 0.0
    cpu_seconds: float = 0.0
    queued_seconds: float = 0.0
    peak_mb: float | None = None
    backend: str = ""
    detail: str = ""
    case_results: tuple[CaseResult, ...] = ()

    @property
    def ran(self) -> bool:
        """No environment or syntax error before the first assertion was reached."""
        if self.outcome in _NEVER_STARTED:
            return False
        if self.reached or self.assertions:
            return True
        raised = (self.raised, *(case.raised for case in self.case_results))
        return self.missing_module is None and not any(
            one is not None and one.type in _ENVIRONMENT_ERRORS for one in raised
        )

    @property
    def asserted(self) -> bool:
        """At least one assertion was evaluated."""
        return bool(self.assertions)

    @property
    def touched(self) -> bool:
        """At least one assertion's value came from the candidate."""
        return any(assertion.touched for assertion in self.assertions)

    @property
    def touching_lines(self) -> int:
        """How many lines of the program have an assertion whose value came from the candidate."""
        return len({assertion.line for assertion in self.assertions if assertion.touched})

    @property
    def cases(self) -> tuple[TestCase, ...]:
        """The test cases of which an assertion was evaluated, in order."""
        named: dict[str, list[Assertion]] = {}
        for assertion in self.assertions:
            if assertion.case:
                named.setdefault(assertion.case, []).append(assertion)
        return tuple(
            TestCase(name, sum(one.count for one in found), sum(one.count for one in found if not one.passed))
            for name, found in named.items()
        )

    def printed(self) -> Iterator[tuple[str, str]]:
        """What was printed as (`stdout` or `stderr`, text), in order where that is known."""
        rest = {"stdout": self.stdout, "stderr": self.stderr}
        for number, length in enumerate(self.turns):
            name = ("stdout", "stderr")[number % 2]
            if rest[name][:length]:
                yield name, rest[name][:length]
            rest[name] = rest[name][length:]
        yield from ((name, text) for name, text in rest.items() if text)

    def to_json(self) -> str:
        """All of the report as one line of JSON."""
        return json.dumps(self, default=_as_dict, ensure_ascii=False, sort_keys=True)

    @classmethod
    def from_json(cls, text: str) -> Self:
        """The report that `to_json` wrote, now or in an earlier version; keys unknown here are left out."""
        data = json.loads(text)
        known = {field.name for field in fields(cls)}
        values: dict[str, Any] = {
            key: tuple(value) if isinstance(value, list) else value
            for key, value in data.items()
            if key in known
        }
        values["outcome"] = Outcome(data["outcome"])
        values["assertions"] = tuple(_assertion(one) for one in data.get("assertions", ()))
        values["trace"] = items_from(data.get("trace", ()))
        values["calls"] = tuple(CandidateCall(**one) for one in data.get("calls", ()))
        values["raised"] = _raised(data.get("raised"))
        values["case_results"] = tuple(_case_result(one) for one in data.get("case_results", ()))
        return cls(**values)


def _as_dict(part: Any) -> dict[str, Any]:
    """A part of a report as plain data; `asdict` would copy all that is in it, too.

    A report without cases, or own words, is stored as it was before there were any.
    """
    told = {field.name: getattr(part, field.name) for field in fields(part)}
    return {key: value for key, value in told.items() if key not in ("case_results", "own_word") or value}


def _assertion(data: dict[str, Any]) -> Assertion:
    changed = {"calls": tuple(data.get("calls", ())), "own_word": OwnWord(data.get("own_word", ""))}
    return Assertion(**{**data, **changed})


def _raised(data: dict[str, Any] | None) -> Raised | None:
    if not data:
        return None
    return Raised(data["type"], data["message"], tuple(Frame(**frame) for frame in data["frames"]))


def _case_result(data: dict[str, Any]) -> CaseResult:
    changed = {"outcome": CaseOutcome(data["outcome"]), "raised": _raised(data.get("raised"))}
    return CaseResult(**{**data, **changed})
