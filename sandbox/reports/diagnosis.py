"""From what the supervisor saw to a Report: the environment's fault is never the code's, nor the reverse.

Exit codes and printed text decide nothing: a program passes when its end was recorded, an assertion was
evaluated, none failed, and nothing looks like an attempt on the record itself.
"""

import os
import re
import signal
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from sandbox.plan import ExecutionPlan
from sandbox.program import Limits, Program
from sandbox.reports.cases import CaseRun, case_runs, join_case_records
from sandbox.reports.observation import Observation
from sandbox.reports.recorded_trace import candidate_calls_of, trace_of
from sandbox.reports.records import (
    NO_END,
    End,
    assertions_of,
    find_raising_place,
    has_failed,
    raised_of,
)
from sandbox.reports.report import Assertion, CaseOutcome, CaseResult, Outcome, Report, find_unproven_lines
from sandbox.reports.texts import escape_unstorable_text, shorten_identifier
from sandbox.reports.turns import turns_of

_OVERFLOW_FACTOR = 16
_LONGEST_SIGN = 1000
_STOPPED = {
    "deadline": Outcome.TIMED_OUT,
    "memory": Outcome.OUT_OF_MEMORY,
    "output": Outcome.OUTPUT_OVERFLOW,
}
# Each is a way to reach the recorder from inside. Harmless programs hardly ever need one.
_SIGNS = (
    (
        re.compile(r"_getframe|\bf_(?:back|globals|builtins)\b|\btb_frame\b|\bgi_frame\b"),
        "looks at stack frames",
    ),
    (re.compile(r"\bget_(?:objects|referrers|referents)\b"), "searches the heap"),
    (re.compile(r"\bset(?:trace|profile)\b"), "replaces the trace function"),
    (re.compile(r"\bget(?:trace|profile)\b|\b_trace_hook\b"), "looks at the trace function"),
    (re.compile(r"\bco_consts\b"), "looks at the constants of compiled code"),
    (re.compile(r"<candidate>"), "gives its own code the candidate's file name"),
    (re.compile(r"__closure__|\bcell_contents\b"), "looks into closures"),
    (
        re.compile(
            r"\bctypes\b|/proc/\w+/mem\b|__array_struct__"
            r"|(?:def |[\"'])__array_interface__|__array_interface__ *=[^=]"
        ),
        "reaches native memory",
    ),
)
# What a candidate has no honest reason for. The rest of the above is noticed when it is done.
_OF_CANDIDATES = (
    (
        re.compile(
            r"\bf_(?:back|globals|builtins|locals)\b|\btb_frame\b|\bgi_frame\b"
            r"|\bgetargvalues\b|\bcapture_locals\b|\bwalk_(?:stack|tb)\b"
            r"|\bextract_vars(?:_above)?\b|\b(?:eval|query)\([^\n]*\blevel *="
        ),
        "looks at stack frames",
    ),
    (re.compile(r"\bcell_contents\b"), "looks into closures"),
    (re.compile(r"\b_profile_hook\b|\bsetprofile\b"), "replaces the trace function"),
    (re.compile(r"\bget(?:trace|profile)\b|\b_trace_hook\b"), "looks at the trace function"),
    (re.compile(r"<program>|<candidate>"), "names the file of the program or its own"),
    (re.compile(r"/proc/\w+/mem\b|__array_(?:interface|struct)__"), "reaches native memory"),
    (
        re.compile(r"\b_pytest\b|\bpluggy\b|\bautouse\b|\brequest\.node\b"),
        "reaches for the runner of the tests",
    ),
    (re.compile(r"\bimport __main__|\bfrom __main__|modules\[.__main__"), "reaches for the program's module"),
)


def diagnose_run(
    program: Program, plan: ExecutionPlan, limits: Limits, seen: Observation, **known: Any
) -> Report:
    """The report of a run; `known` are the fields that only the backend knows (backend, queued_seconds)."""
    try:
        return _Diagnosis(program, plan, limits, seen).report(known)
    except (ValueError, TypeError, LookupError, AttributeError, OverflowError, RecursionError):
        # The harness writes no such records, so the program did: that is its doing, and no reason to run it
        # again.
        sign = "something else wrote into the record"
        return Report(Outcome.ERRORED, suspicious=(sign,), candidate_hash=program.candidate_hash, **known)


@dataclass
class _Diagnosis:
    """`outside` of the cases are all assertions of a program that has none."""

    program: Program
    plan: ExecutionPlan
    limits: Limits
    seen: Observation
    runs: tuple[CaseRun, ...] = ()
    results: tuple[CaseResult, ...] = ()
    ends: list[End] = field(init=False)
    outside: tuple[Assertion, ...] = field(init=False)
    assertions: tuple[Assertion, ...] = field(init=False)

    def __post_init__(self) -> None:
        if self.plan.cases:
            self.runs = case_runs(self.seen.records, [case for case, _ in self.plan.cases])
            self.results = tuple(run.result(self.seen.stopped) for run in self.runs)
            self.seen = replace(self.seen, records=join_case_records(self.seen.records, self.runs))
        self.ends = list(self.seen.of("end"))
        totals = self.ends[0][1] if self.ends else ()
        self.outside = tuple(assertions_of(self.seen.of("assertion"), totals))
        self.assertions = (
            *self.outside,
            *(assertion for run in self.runs for assertion in run.assertions),
        )

    def report(self, known: Mapping[str, Any]) -> Report:
        end = self.ends[0] if self.ends else NO_END
        redefined = bool(self.plan.redefined or end[2] or any(run.end and run.end[2] for run in self.runs))
        suspicious = tuple(self._signs(end[3]))
        outcome, detail = self._judge(end[0], redefined, suspicious)
        return Report(
            outcome=outcome,
            detail=detail,
            assertions=self.assertions,
            stdout=self.seen.stdout,
            stderr=self.seen.stderr,
            output_truncated=any(count > self.limits.output_bytes for count in self.seen.output_bytes),
            turns=turns_of(self.seen),
            trace=trace_of(self.seen.records),
            trace_truncated=bool(end[6]) and self.program.trace,
            calls=candidate_calls_of(self.seen.records),
            calls_made=int(end[7]),
            reached=any(True for _ in self.seen.of("reached")),
            applied_as=self.program.name,
            raised=None if end[0] and end[0]["clean_exit"] else raised_of(end[0]),
            missing_module=self._missing(end[0]),
            redefined=redefined,
            suspicious=suspicious,
            candidate_hash=self.program.candidate_hash,
            lines_reached=tuple(map(int, end[4])),
            lines_missed=tuple(map(int, end[5])),
            seconds=self.seen.seconds,
            cpu_seconds=round(self.seen.cpu_seconds, 3),
            peak_mb=round(self.seen.peak / 2**20, 1),
            case_results=self.results,
            **known,
        )

    def _missing(self, ending: Mapping[str, Any] | None) -> str | None:
        if ending is not None:
            return _name_or_none(ending["missing"])
        crashed = (run for run, result in self._cases() if result.outcome is CaseOutcome.CRASHED)
        return next(filter(None, (run.missing() for run in crashed)), None)

    def _cases(self) -> Iterator[tuple[CaseRun, CaseResult]]:
        return zip(self.runs, self.results, strict=True)

    def _signs(self, recorded: Iterable[str]) -> Iterator[str]:
        seen = [("program", sign) for sign in recorded]
        seen += [(who, sign) for who, sign in self.seen.of("sign")]
        seen += [
            ("candidate", f"has its own {name}, which the program uses") for name in self.plan.taken_built_ins
        ]
        texts = (
            ("program", self.program.source, _SIGNS),
            ("candidate", self.program.candidate, _OF_CANDIDATES),
        )
        seen += [(who, sign) for who, text, signs in texts for pattern, sign in signs if pattern.search(text)]
        yield from dict.fromkeys(
            f"the {'candidate' if who == 'candidate' else 'program'} {escape_unstorable_text(str(sign))}"[
                :_LONGEST_SIGN
            ]
            for who, sign in seen
        )
        if self.ends and self.seen.lost:
            yield "a part of the record is missing"
        if self.seen.foreign or any(True for _ in self.seen.of("unreadable")):
            yield "something else wrote into the record"
        if len(self.ends) > 1:
            yield "the end was recorded more than once"
        if not self.ends and not self._stopped_from_outside():
            yield "the program ended without its end being recorded"

    def _stopped_from_outside(self) -> bool:
        return bool(self.seen.stopped) or os.WIFSIGNALED(self.seen.status)

    def _judge(
        self, ending: Mapping[str, Any] | None, redefined: bool, signs: tuple[str, ...]
    ) -> tuple[Outcome, str]:
        if sum(self.seen.output_bytes) > self.limits.output_bytes * _OVERFLOW_FACTOR:
            return Outcome.OUTPUT_OVERFLOW, "it printed far more than is kept"
        # Before the deadline: a program whose child was killed may have waited for it until then.
        if self.seen.oom_kills:
            return Outcome.OUT_OF_MEMORY, _STOP_TEXTS["memory"]
        if self.seen.stopped == "deadline" and any(run.begun for run in self.runs):
            return self._ended(redefined, signs)
        if self.seen.stopped in _STOPPED:
            return _STOPPED[self.seen.stopped], _STOP_TEXTS[self.seen.stopped]
        if not self.ends:
            return self._died()
        if ending is not None and not ending["clean_exit"]:
            return self._raised_outcome(ending)
        return self._ended(redefined, signs)

    def _died(self) -> tuple[Outcome, str]:
        status = self.seen.status
        if not os.WIFSIGNALED(status):
            return Outcome.ERRORED, "it left before its end"
        number = os.WTERMSIG(status)
        if number == signal.SIGKILL and self.seen.oom_kills is None and self._near_memory_limit():
            return Outcome.OUT_OF_MEMORY, _STOP_TEXTS["memory"]
        # The kernel's own end for one that computes in many threads.
        if number in (signal.SIGXCPU, signal.SIGKILL) and self.seen.cpu_seconds > 2 * self.limits.seconds:
            return Outcome.TIMED_OUT, _STOP_TEXTS["deadline"]
        return Outcome.ERRORED, f"it was ended by {_signal_name(number)}"

    def _near_memory_limit(self) -> bool:
        return self.seen.peak > 0.9 * self.limits.memory_mb * 2**20

    def _raised_outcome(self, ending: Mapping[str, Any]) -> tuple[Outcome, str]:
        failed = any(not assertion.passed for assertion in self.assertions)
        if ending["kind"] == "MemoryError":
            return Outcome.OUT_OF_MEMORY, _STOP_TEXTS["memory"]
        if not failed and self._is_misfit(ending):
            return Outcome.NOT_APPLICABLE, self._misfit()
        detail = "the program ended itself by SystemExit" if ending["kind"] == "SystemExit" else ""
        return (Outcome.FAILED if has_failed(ending, failed) else Outcome.ERRORED), detail

    def _misfit(self) -> str:
        return f"it calls {self.program.name} with arguments that do not fit"

    def _is_misfit(self, ending: Mapping[str, Any]) -> bool:
        """Whether a call itself was refused: Python says so by the function's name, and never enters it."""
        called = re.match(r"([\w.<>]+)\(\) ", str(ending["message"]))
        return (
            bool(self.program.name)
            and find_raising_place(ending) != "candidate"
            and ending["type"] == "TypeError"
            and called is not None
            and called[1].partition(".")[0] in self.plan.names
        )

    def _ended(self, redefined: bool, signs: tuple[str, ...]) -> tuple[Outcome, str]:
        outcomes = {result.outcome for result in self.results}
        if CaseOutcome.FAILED in outcomes:
            return Outcome.FAILED, ""
        if any(not assertion.passed for assertion in self.outside):
            return Outcome.FAILED, "an assertion failed and the program went on"
        if redefined:
            return Outcome.ERRORED, "it tested something else than the candidate"
        if signs:
            return Outcome.ERRORED, "its assertions held, but the record cannot be relied on"
        if self.results and (unmet := self._unmet(outcomes)):
            return unmet
        if broken := sorted({int(line) for (line,) in self.seen.of("interrupted")}):
            return Outcome.ERRORED, f"an assertion was left by an exception: line {_listed(broken)}"
        if any(True for _ in self.seen.of("unmet")):
            return Outcome.ERRORED, "its runner saw a test that did not pass"
        if self.plan.slips:
            return Outcome.ERRORED, f"it asserts a tuple, which always holds: line {_listed(self.plan.slips)}"
        if not self.assertions:
            return Outcome.UNTESTED, "it ended without evaluating an assertion"
        if not self._touches():
            return Outcome.UNTESTED, "its assertions held, but none of them touches the candidate"
        if lines := find_unproven_lines(self.assertions):
            return Outcome.UNPROVEN, f"{_OWN_WORD}: line {_listed(lines)}"
        return Outcome.PASSED, ""

    def _unmet(self, outcomes: set[CaseOutcome]) -> tuple[Outcome, str] | None:
        """What keeps cases, none of which failed, from having held all."""
        crashed = (run.end[0] for run, one in self._cases() if one.outcome is CaseOutcome.CRASHED and run.end)
        if any(self._is_misfit(ending) for ending in crashed):
            return Outcome.NOT_APPLICABLE, self._misfit()
        for outcome, (verdict, detail) in _UNMET.items():
            # Where no case tests anything, that is what is told.
            if outcome in outcomes and (outcome is not CaseOutcome.EMPTY or self._touches()):
                return verdict, detail
        return None

    def _touches(self) -> bool:
        return any(assertion.touched for assertion in self.assertions)


_UNMET = {
    CaseOutcome.CRASHED: (Outcome.ERRORED, "a case ended by an exception"),
    CaseOutcome.KILLED: (Outcome.ERRORED, "a case was ended before it returned"),
    CaseOutcome.EMPTY: (Outcome.ERRORED, "a case evaluated no assertion"),
    CaseOutcome.TIMED_OUT: (Outcome.TIMED_OUT, "a case did not end within its time"),
    CaseOutcome.NOT_RUN: (Outcome.TIMED_OUT, "no time was left for a case"),
}
_STOP_TEXTS = {
    "deadline": "it did not end within its time",
    "memory": "it used more memory than it may",
    "output": "it printed far more than is kept",
}


_OWN_WORD = "its assertions held, but the candidate itself decided what they found"


def _listed(lines: Iterable[int]) -> str:
    return ", ".join(map(str, lines))


def _signal_name(number: int) -> str:
    names = {int(Signal): Signal.name for Signal in signal.Signals}
    return names.get(number, f"signal {number}")


def _name_or_none(value: object) -> str | None:
    return None if value is None else shorten_identifier(str(value))
