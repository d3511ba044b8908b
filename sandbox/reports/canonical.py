"""A report as agents read it: no times, sizes, addresses, temporary paths or backend, so that it repeats."""

from __future__ import annotations

import re
from collections.abc import Iterator

from sandbox.reports.outcome import CaseOutcome, Outcome
from sandbox.reports.report import Assertion, CaseResult, Raised, Report, find_unproven_lines

_ADDRESS = re.compile(r"0x[0-9a-fA-F]{4,}")
_TEMPORARY = re.compile(r"(?:/var)?/tmp/[^\s'\"<>)\],:;]+")
# As unittest prints it.
_DURATION = re.compile(r" in \d+\.\d+ ?s\b")
# An ending from outside comes at a moment that no two runs share: what was counted or printed last is out.
CUT_OFF = (Outcome.TIMED_OUT, Outcome.OUT_OF_MEMORY, Outcome.OUTPUT_OVERFLOW)
_SHOWN_CHARACTERS, _SHOWN_CUT_OFF, _SHOWN_ASSERTIONS, _SHOWN_MESSAGE = 4000, 400, 100, 300
# Where the whole run was ended for these, which case was the last to begin is chance.
_ENDED_AT_ANY_CASE = (Outcome.OUT_OF_MEMORY, Outcome.OUTPUT_OVERFLOW)
# Deeper than any line of the report's own.
_DEEP = " " * 8
# What a program prints is indented as these lines of the report are; one that reads like them is marked.
_OWN_WORD = " [by the candidate's own word]"
_UNPROVEN = (
    "unproven is neither passed nor failed: what holds of the candidate was decided by operations of its own",
    "classes, such as their ==, which may say anything, or is compared with values that it has changed. That",
    "is no fault, and no proof: read what it does, and decide from the code.",
)
_LIKE_OWN = re.compile(
    r"\s*(?:(?:passed|FAILED) line \d|at (?:program|candidate) line \d|and \d+ more$|\[cut\]|loop at line \d"
    r"|case .*: (?:held|failed|crashed|empty|timed_out|killed|not_run)\b)|\s+(?:left|right): "
)


def is_cut_off(report: Report) -> bool:
    """Whether the run, or a case of it, was ended from outside."""
    return report.outcome in CUT_OFF or any(
        case.outcome is CaseOutcome.TIMED_OUT for case in report.case_results
    )


def canonical_text(report: Report) -> str:
    """The report as agents read it; of two runs that mean the same it is the same."""
    return "\n".join(canonical_lines(report))


def canonical_lines(report: Report) -> Iterator[str]:
    """The text, line by line."""
    yield f"outcome: {report.outcome}"
    if report.flaky:
        yield f"flaky, the outcome of each run: {', '.join(report.flaky)}"
    if report.detail:
        yield f"detail: {_indented(report.detail)}"
    if report.missing_module:
        yield f"missing module: {_flat(report.missing_module)}"
    if report.redefined:
        yield "the program redefines the candidate"
    yield from (f"suspicious: {_flat(_stable(sign))}" for sign in report.suspicious)
    if report.outcome is Outcome.UNPROVEN:
        yield from _UNPROVEN
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
        if report.outcome is Outcome.UNPROVEN and _holds_by_own_word(case, report):
            mark += _OWN_WORD
        known = case.outcome not in (CaseOutcome.TIMED_OUT, CaseOutcome.KILLED)
        yield f"  case {_on_a_line(case.name)}: {_how(case, report)}{mark if known else ''}"
    if len(cases) > _SHOWN_ASSERTIONS:
        yield f"  and {len(cases) - _SHOWN_ASSERTIONS} more"
    names = {case.name for case in cases}
    outside = [assertion for assertion in report.assertions if assertion.case not in names]
    if outside and report.outcome not in CUT_OFF:
        yield f"assertions outside of cases: {len(outside)}"
        for assertion in outside[:_SHOWN_ASSERTIONS]:
            yield from _one_assertion(assertion, report, counted=True)


def _holds_by_own_word(case: CaseResult, report: Report) -> bool:
    return bool(find_unproven_lines(one for one in report.assertions if one.case == case.name))


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
    failed = [
        assertion for assertion in report.assertions if assertion.case == case.name and not assertion.passed
    ]
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
    return f"{_flat(raised.type)}: {message}".rstrip(": ") + place


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
        yield from _one_assertion(assertion, report, counted=not cut_off)
    if not cut_off and len(shown) < len(report.assertions):
        yield f"  and {len(report.assertions) - len(shown)} more"
    if not report.touched and not cut_off:
        yield "no assertion touches the candidate"


def _one_assertion(assertion: Assertion, report: Report, counted: bool) -> Iterator[str]:
    verdict = "passed" if assertion.passed else "FAILED"
    times = f" ({assertion.count} times)" if counted and assertion.count > 1 else ""
    untouched = "" if assertion.touched else " [does not touch the candidate]"
    own = _OWN_WORD if assertion.own_word and report.outcome is Outcome.UNPROVEN else ""
    yield f"  {verdict} line {assertion.line}{times}: {_flat(_stable(assertion.source))}{untouched}{own}"
    values = (("left", assertion.left), ("right", assertion.right))
    yield from (f"    {side}: {_indented(value)}" for side, value in values if value is not None)


def _raised_lines(raised: Raised) -> Iterator[str]:
    yield f"exception: {_flat(raised.type)}: {_indented(raised.message)}".rstrip(": ")
    for frame in raised.frames:
        # Lines of a library differ between builds of one Python; those of the program and candidate do not.
        if frame.place != "library":
            source = _flat(_stable(frame.source))
            yield f"  at {_flat(frame.place)} line {frame.line} in {_flat(frame.function)}: {source}"


def _output_lines(title: str, output: str, report: Report) -> Iterator[str]:
    if not output:
        return
    cut_off = is_cut_off(report)
    limit = _SHOWN_CUT_OFF if cut_off else _SHOWN_CHARACTERS
    # Normalised before it is cut: an address cut in two would stay.
    stable = _stable(output)
    yield f"{title}:"
    yield from (f"  {'| ' * bool(_LIKE_OWN.match(line))}{line}" for line in stable[:limit].splitlines())
    if len(stable) > limit or (report.output_truncated and not cut_off):
        yield "  [cut]"


def _indented(text: str) -> str:
    """The text, its second and further lines so deep that none of them reads like one of the report's own."""
    stable = _stable(text)
    lines = stable.splitlines()
    return stable if len(lines) < 2 else f"\n{_DEEP}".join(lines)


def _flat(text: str) -> str:
    """A name or a piece of source on one line, whatever a program has put into it."""
    lines = text.splitlines()
    return text if len(lines) < 2 else " ".join(lines)


def _stable(text: str) -> str:
    return _DURATION.sub(" in …s", _TEMPORARY.sub("/tmp/…", _ADDRESS.sub("0x…", text)))
