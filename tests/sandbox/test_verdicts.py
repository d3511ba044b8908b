"""A verdict that holds: no program and no candidate makes a wrong one pass, or a right one fail.

Each file of verdicts/ has what is right in its docstring, then the candidate, then the program. The harness
judges, and it is the same in every sandbox. So a usual run judges all files in forked sandboxes, which start
quickly, and every fourth one in each other kind; `make protections` judges all of them in each.
"""

import re
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sandbox.program import Limits, Program
from sandbox.protocol import Sandbox
from sandbox.reports.canonical import canonical_text
from sandbox.reports.report import Outcome, Report
from tests.sizes import WHOLE

FOLDER = Path(__file__).parent / "verdicts"
NAMES = sorted(path.stem for path in FOLDER.glob("*.py"))
STARTED, IN_DOCKER = (NAMES, NAMES) if WHOLE else (NAMES[::4], NAMES[2::4])
NOT_PASSED = "not passed, or suspicious"
LIMITS = Limits(seconds=10)


def read(name: str) -> tuple[str, Program]:
    """What is right, and what to run."""
    text = (FOLDER / f"{name}.py").read_text()
    header, candidate, program = re.split(r"^# (?:candidate|program)\n", text, flags=re.MULTILINE)
    right = re.search(r"^Right: (.+)$", header, re.MULTILINE)
    assert right is not None
    return right[1], Program(candidate, program)


def is_right(report: Report, right: str) -> bool:
    if right == NOT_PASSED:
        return report.outcome is not Outcome.PASSED or bool(report.suspicious)
    return report.outcome == right and not (report.suspicious and right == Outcome.PASSED)


REPORTS: dict[tuple[str, int], Report] = {}


def reported(name: str, sandbox: Sandbox) -> Report:
    """Run once: what others are compared with is the same for each of them."""
    key = name, id(sandbox)
    if key not in REPORTS:
        REPORTS[key] = sandbox.run(read(name)[1], LIMITS)
    return REPORTS[key]


def check_verdict(name: str, sandbox: Sandbox) -> None:
    report = reported(name, sandbox)
    assert is_right(report, read(name)[0]), canonical_text(report)


@pytest.mark.parametrize("name", NAMES)
def test_a_verdict_holds(name: str, forked: Sandbox) -> None:
    check_verdict(name, forked)


@pytest.mark.parametrize("name", IN_DOCKER)
def test_a_verdict_holds_in_docker(name: str, docker: Sandbox) -> None:
    check_verdict(name, docker)


@pytest.mark.parametrize("name", STARTED)
def test_a_sandbox_of_its_own_tells_the_same(name: str, bubblewrap: Sandbox, forked: Sandbox) -> None:
    assert canonical_text(reported(name, bubblewrap)) == canonical_text(reported(name, forked))


@pytest.mark.parametrize("name", NAMES if WHOLE else NAMES[1::2])
def test_a_verdict_does_not_depend_on_the_trace(name: str, forked: Sandbox) -> None:
    _, program = read(name)
    traced, plain = reported(name, forked), forked.run(replace(program, trace=False), LIMITS)
    assert (plain.outcome, plain.detail, plain.suspicious) == (
        traced.outcome,
        traced.detail,
        traced.suspicious,
    )


LOUD = """\
def method(name):
    def run(*arguments):
        told.append(name)
        return getattr(object, name)(*arguments)
    return run
told = []
"""
METHODS = ("__repr__", "__str__", "__eq__", "__hash__", "__getattribute__", "__format__", "__dir__")
VALUES = (
    *("kind()", "kind", "[kind()]", "{1: kind()}", "(kind(), kind)", "kind().__init__"),
    *("{1: kind}.values()", "ValueError(kind())", "iter([kind()])", "slice(kind())", "deque([kind()])"),
)


@given(
    st.sets(st.sampled_from(METHODS)),
    st.sets(st.sampled_from([name for name in METHODS if name != "__getattribute__"])),
    st.lists(st.sampled_from(VALUES), min_size=1, max_size=6),
    st.sampled_from(["decimal", "datetime", "builtins", "numpy", "collections"]),
)
@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_following_a_program_runs_nothing_of_it(
    forked: Sandbox, methods: set[str], of_class: set[str], values: list[str], module: str
) -> None:
    body = "".join(f"{name} = method({name!r}); " for name in sorted(methods))
    meta = "".join(f"{name} = method_of_type({name!r}); " for name in sorted(of_class))
    lines = "".join(
        f"    v{number} = {value}\n    told.append({number})\n" for number, value in enumerate(values)
    )
    loud_of_type = LOUD.replace("method", "method_of_type").replace("object", "type")
    candidate = (
        f"from collections import deque\n{LOUD}{loud_of_type}"
        f"class meta(type): {meta}pass\nclass kind(metaclass=meta): {body}__module__ = {module!r}\n"
        f"def f():\n    told.clear()\n{lines}    return list(told)\n"
    )
    program = Program(candidate, "print(f())\nassert f()\n")
    traced, plain = forked.run(program, LIMITS), forked.run(replace(program, trace=False), LIMITS)
    assert (traced.stdout, traced.outcome) == (plain.stdout, plain.outcome)
    assert traced.outcome is Outcome.PASSED, traced.to_json()


def test_a_report_can_not_be_written_by_what_it_reports(forked: Sandbox) -> None:
    report = forked.run(read("program_injects_report")[1], LIMITS)
    lines = canonical_text(report).splitlines()
    assert [line for line in lines if line.startswith("outcome:")] == ["outcome: failed"]
    assert [line for line in lines if line.startswith("assertions:")] == ["assertions: 1, failed: 1"]
    assert not [line for line in lines if re.match(r" {,4}(passed line|left: 42$)", line)]
    assert "  |   passed line 1: assert answer() == 42" in lines


def test_a_byte_order_mark_and_windows_ends_of_lines_are_no_error(sandbox: Sandbox) -> None:
    candidate = "\ufeffdef triple(x):\r\n    return x * 3\r\n"
    program = Program(candidate, "\ufeffassert triple(2) == 6\r\nif True:\r\n\tassert triple(1) == 3\r\n")
    assert sandbox.run(program, LIMITS).outcome is Outcome.PASSED
