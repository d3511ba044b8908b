"""pytest as the runner of a program's tests, beside what the files of verdicts/ and honest/ show."""

import pytest

from sandbox.program import Program
from sandbox.protocol import Sandbox
from sandbox.reports.report import CaseOutcome, Outcome, Report
from tests.sandbox.test_verdicts import LIMITS

DOUBLE = "def double(x):\n    if x < 0:\n        raise ValueError('negative')\n    return x * 2\n"
PARAMETERS = """import pytest

@pytest.mark.parametrize("x", [1, 2])
def test_twice(x, tmp_path):
    assert double(x) == 2 * x

def test_wrong():
    assert double(1) == 3

def test_raises():
    with pytest.raises(ValueError):
        double(-1)

def test_crash(capsys):
    double(-1)

"""


def run(sandbox: Sandbox, source: str, candidate: str = DOUBLE, cases: tuple[str, ...] = ()) -> Report:
    return sandbox.run(Program(candidate, source, cases=cases), LIMITS)


@pytest.mark.parametrize("end", ["", "import sys\nsys.exit(pytest.main([__file__]))\n"])
def test_each_case_is_run_by_pytest_once(end: str, sandbox: Sandbox) -> None:
    cases = ("test_twice", "test_wrong", "test_raises", "test_crash")
    report = run(sandbox, PARAMETERS + end, cases=cases)
    held, failed, crashed = CaseOutcome.HELD, CaseOutcome.FAILED, CaseOutcome.CRASHED
    assert [result.outcome for result in report.case_results] == [held, failed, held, crashed]
    assert [result.assertions for result in report.case_results] == [2, 1, 1, 0]
    assert report.outcome is Outcome.FAILED


def test_the_first_test_that_ends_badly_is_told_and_the_others_run(bubblewrap: Sandbox) -> None:
    report = run(bubblewrap, PARAMETERS + "print('status', int(pytest.main([__file__, '-v'])))\n")
    assert report.outcome is Outcome.FAILED
    assert report.raised is not None
    assert [(frame.place, frame.function) for frame in report.raised.frames] == [("program", "test_wrong")]
    # Two parameters, one that fails, one that waits for an exception; the last test has none.
    assert [assertion.passed for assertion in report.assertions] == [True, True, False, True]
    assert report.stdout == "status 1\n"


def test_a_missing_exception_is_told_as_a_failure(bubblewrap: Sandbox) -> None:
    source = "import pytest\n\ndef test():\n    with pytest.raises(ValueError):\n        double(1)\n"
    report = run(bubblewrap, source)
    assert report.outcome is Outcome.FAILED
    assert report.raised is not None
    assert (report.raised.type, report.raised.message) == ("Failed", "DID NOT RAISE ValueError")
    assert [(one.line, one.passed, one.touched) for one in report.assertions] == [(4, False, True)]


def test_a_fixture_that_nobody_has_is_told_by_its_name(bubblewrap: Sandbox) -> None:
    report = run(bubblewrap, "import pytest\n\ndef test(number):\n    assert double(number) == 2\n")
    assert report.outcome is Outcome.ERRORED
    assert report.raised is not None
    assert report.raised.message == "fixture 'number' not found"


@pytest.mark.parametrize(
    ("arguments", "evaluated"),
    [
        ("", 4),
        ("[__file__, '-k', 'twice']", 2),
        ("[f'{__file__}::test_twice[2]']", 1),
        ("[f'{__file__}::test_raises', f'{__file__}::test_twice']", 3),
        ("['-x', '--tb=short', '-rA']", 3),
        ("['--collect-only']", 0),
        ("['/tmp/another.py']", 0),
        ("['--no-such-option']", 0),
    ],
)
def test_the_program_chooses_its_tests_as_ever(arguments: str, evaluated: int, bubblewrap: Sandbox) -> None:
    report = run(bubblewrap, f"{PARAMETERS}pytest.main({arguments})\n")
    assert sum(assertion.count for assertion in report.assertions) == evaluated


def test_tests_that_did_not_run_did_not_pass(bubblewrap: Sandbox) -> None:
    source = "import pytest\n\ndef test_a():\n    assert double(1) == 2\n    pytest.exit('done')\n\n"
    report = run(bubblewrap, source + "def test_b():\n    assert double(1) == 3\n")
    assert report.outcome is Outcome.ERRORED


def test_what_does_not_import_pytest_does_not_load_it(bubblewrap: Sandbox) -> None:
    report = run(bubblewrap, "# pytest would do\nimport sys\nassert double('pytest' in sys.modules) == 0\n")
    assert report.outcome is Outcome.PASSED


def test_a_mark_that_expects_an_exception_is_kept_to(bubblewrap: Sandbox) -> None:
    source = (
        "import pytest\n\ndef test():\n    assert double(1) == 2\n\n"
        "@pytest.mark.xfail(raises=ValueError, strict=True)\ndef test_negative():\n    double({})\n"
    )
    assert run(bubblewrap, source.format(-1)).outcome is Outcome.PASSED
    assert run(bubblewrap, source.format(1)).outcome is Outcome.ERRORED
