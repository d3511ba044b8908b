"""A report as agents read it: no times, sizes, addresses, temporary paths or backend, so that it repeats."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from sandbox.outcome import CaseOutcome, Outcome

if TYPE_CHECKING:
    from sandbox.report import Assertion, CaseResult, Raised, Report

_ADDRESS = re.compile(r"0x[0-9a-fA-F]{4,}")
_TEMPORARY = re.compile(r"(?:/var)?/tmp/[^\s'\"<>)\],:;]+")
# As unittest prints it.
_DURATION = re.compile(r" in \d+\.\d+ ?s\b")
# An ending from outside comes at a moment that no two runs share: what was counted or printed last is out.
CUT_OFF = (Outcome.TIMED_OUT, Outcome.OUT_OF_MEMORY, Outcome.OUTPUT_OVERFLOW)
_SHOWN_CHARACTERS, _SHOWN_CUT_OFF, _SHOWN_ASSERTIONS, _SHOWN_MESSAGE = 4000, 400, 100, 300
# Where the whole run was ended for these, which case was the last to begin is chance.
_ENDED_AT_ANY_CASE = (Outcome.OUT_OF_MEMORY, Outcome.OUTPUT_OVERFLOW)


def is_cut_off(report: Report) -> bool:
    """Whether the run, or a case of it, was ended from outside."""
    return report.outcome in CUT_OFF or any(
        case.outcome is CaseOutcome.TIMED_OUT for case in report.case_results
    )


def canonical_lines(report: Report) -> Iterator[str]:
    """The text, line by line."""
    yield f"outcome: {report.outcome}"
    if report.flaky:
        yield f"flaky, the outcome of each run: {', '.join(report.flaky)}"
    if report.detail:
        yield f"detail: {_stable(report.detail)}"
    if report.missing_module:
        yield f"missing module: {report.missing_module}"
    if report.redefined:
        yield "the program redefines the candidate"
    yield from (f"suspicious: {_stable(sign)}" for sign in report.suspicious)
    yield from _case_lines(report) if report.case_results else _assertion_lines(report)
    if report.raised and report.outcome is not Outcome.OUT_OF_MEMORY:
        yield from _raised_lines(report.raised)
    yield from _output_lines("output", report.stdout, report)
    yield from _output_lines("error output", report.stderr, report)
    if not is_cut_off(report) and (report.lines_reached or report.lines_missed):
        missed = ", ".join(map(str, report.lines_missed)) or "none"
        yield f"candidate lines never reached: {missed}"


def _case_lines(report: Report) -> Iterator[str]:
    cases = report.case_results
    if report.outcome in _ENDED_AT_ANY_CASE:
        yield f"cases: {len(cases)}, some of them before the end"
        return
    yield f"cases: {len(cases)}, held: {sum(case.outcome is CaseOutcome.HELD for case in cases)}"
    for case in cases[:_SHOWN_ASSERTIONS]:
        mark = " [does not touch the candidate]" if case.assertions and not case.touched else ""
        known = case.outcome not in (CaseOutcome.TIMED_OUT, CaseOutcome.KILLED)
        yield f"  case {_on_a_line(case.name)}: {_how(case, report)}{mark if known else ''}"
    if len(cases) > _SHOWN_ASSERTIONS:
        yield f"  and {len(cases) - _SHOWN_ASSERTIONS} more"
    names = {case.name for case in cases}
    outside = [assertion for assertion in report.assertions if assertion.case not in names]
    if outside and report.outcome not in CUT_OFF:
        yield f"assertions outside of cases: {len(outside)}"
        for assertion in outside[:_SHOWN_ASSERTIONS]:
            yield from _one_assertion(assertion, counted=True)


def _how(found: CaseResult, report: Report) -> str:
    match found.outcome:
        case CaseOutcome.HELD:
            return f"held, {found.assertions} assertion{'' if found.assertions == 1 else 's'}"
        case CaseOutcome.FAILED if found.failed:
            return f"failed {_failure(found, report)}"
        case CaseOutcome.FAILED | CaseOutcome.CRASHED if found.raised:
            return f"{found.outcome} {_where(found.raised)}"
    return found.outcome.value


def _failure(case: CaseResult, report: Report) -> str:
    """The first assertion that failed, with both sides."""
    failed = [one for one in report.assertions if one.case == case.name and not one.passed]
    if not failed:
        return ""
    first = failed[0]
    sides = (("left", first.left), ("right", first.right))
    values = "".join(f" {side}: {_on_a_line(value)}" for side, value in sides if value is not None)
    more = f" and {len(failed) - 1} more" if len(failed) > 1 else ""
    return f"line {first.line}: {_on_a_line(first.source)}{values}{more}"


def _where(raised: Raised) -> str:
    own = [frame for frame in raised.frames if frame.place != "library"]
    place = f" at {own[-1].place} line {own[-1].line}" if own else ""
    message = _on_a_line(raised.message)[:_SHOWN_MESSAGE]
    return f"{raised.type}: {message}".rstrip(": ") + place


def _on_a_line(text: str) -> str:
    return " ".join(line.strip() for line in _stable(text).splitlines())


def _assertion_lines(report: Report) -> Iterator[str]:
    if not report.assertions:
        yield "assertions: none was evaluated"
        return
    cut_off = is_cut_off(report)
    shown = report.assertions[: 1 if cut_off else _SHOWN_ASSERTIONS]
    failed = sum(not assertion.passed for assertion in report.assertions)
    yield (
        "assertions: some before the end"
        if cut_off
        else f"assertions: {len(report.assertions)}, failed: {failed}"
    )
    for assertion in shown:
        yield from _one_assertion(assertion, counted=not cut_off)
    if not cut_off and len(shown) < len(report.assertions):
        yield f"  and {len(report.assertions) - len(shown)} more"
    if not report.touched and not cut_off:
        yield "no assertion touches the candidate"


def _one_assertion(assertion: Assertion, counted: bool) -> Iterator[str]:
    verdict = "passed" if assertion.passed else "FAILED"
    times = f" ({assertion.count} times)" if counted and assertion.count > 1 else ""
    untouched = "" if assertion.touched else " [does not touch the candidate]"
    yield f"  {verdict} line {assertion.line}{times}: {_stable(assertion.source)}{untouched}"
    values = (("left", assertion.left), ("right", assertion.right))
    yield from (f"    {side}: {_stable(value)}" for side, value in values if value is not None)


def _raised_lines(raised: Raised) -> Iterator[str]:
    yield f"exception: {raised.type}: {_stable(raised.message)}".rstrip(": ")
    for frame in raised.frames:
        # Lines of a library differ between builds of one Python; those of the program and candidate do not.
        if frame.place != "library":
            yield f"  at {frame.place} line {frame.line} in {frame.function}: {_stable(frame.source)}"


def _output_lines(title: str, output: str, report: Report) -> Iterator[str]:
    if not output:
        return
    cut_off = is_cut_off(report)
    limit = _SHOWN_CUT_OFF if cut_off else _SHOWN_CHARACTERS
    # Normalised before it is cut: an address cut in two would stay.
    stable = _stable(output)
    yield f"{title}:"
    yield from (f"  {line}" for line in stable[:limit].splitlines())
    if len(stable) > limit or (report.output_truncated and not cut_off):
        yield "  [cut]"


def _stable(text: str) -> str:
    return _DURATION.sub(" in …s", _TEMPORARY.sub("/tmp/…", _ADDRESS.sub("0x…", text)))
