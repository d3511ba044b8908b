"""A program that was written for one candidate is run against another one, under the first one's name."""

import pytest

from sandbox.program import Limits, Program
from sandbox.protocol import Sandbox
from sandbox.reports.canonical import canonical_text
from sandbox.reports.report import Outcome, Report

SOURCE = "def main():\n    assert largest([1, 3, 2]) == 3\n    assert largest([]) is None\nmain()\n"


def run(sandbox: Sandbox, candidate: str, source: str = SOURCE, name: str = "largest") -> Report:
    return sandbox.run(Program(candidate, source, name=name), Limits(seconds=5))


@pytest.mark.parametrize(
    ("candidate", "outcome"),
    [
        ("def biggest(xs):\n    return max(xs, default=None)\n", Outcome.PASSED),
        ("def largest(xs):\n    return max(xs, default=None)\n", Outcome.PASSED),
        (
            "def _first(xs):\n    return xs[0]\ndef last(xs):\n    return xs and _first(xs[::-1])\n",
            Outcome.FAILED,
        ),
        ("def biggest(xs):\n    return max(xs)\n", Outcome.ERRORED),
        ("def biggest(a, b):\n    return max(a, b)\n", Outcome.NOT_APPLICABLE),
        ("def biggest():\n    return 3\n", Outcome.NOT_APPLICABLE),
        ("def biggest(*, xs):\n    return max(xs)\n", Outcome.NOT_APPLICABLE),
        ("class Biggest:\n    def __init__(self, a, b):\n        self.a = a\n", Outcome.NOT_APPLICABLE),
        ("def biggest(xs):\n    return helper(xs, 1)\ndef helper(xs):\n    return xs\n", Outcome.ERRORED),
        ("def biggest(xs):\n    raise TypeError('biggest() takes 2 arguments')\n", Outcome.ERRORED),
        ("def biggest(xs):\n    return xs + 1\n", Outcome.ERRORED),
    ],
)
def test_what_it_says_of_another_candidate(candidate: str, outcome: Outcome, sandbox: Sandbox) -> None:
    report = run(sandbox, candidate)

    assert report.outcome is outcome, canonical_text(report)
    assert (report.applied_as, report.redefined) == ("largest", False)


def test_its_assertions_touch_the_other_candidate(bubblewrap: Sandbox) -> None:
    report = run(bubblewrap, "def biggest(xs):\n    return max(xs, default=None)\n")

    assert report.touched and [call.function for call in report.calls] == ["biggest", "biggest"]


def test_arguments_that_do_not_fit_are_an_error_of_the_program_otherwise(bubblewrap: Sandbox) -> None:
    report = run(bubblewrap, "def largest(a, b):\n    return a\n", name="")

    assert report.outcome is Outcome.ERRORED


def test_the_name_may_not_be_rebound_either(bubblewrap: Sandbox) -> None:
    source = "def largest(xs):\n    return 3\nassert largest([3]) == 3\n"

    assert run(bubblewrap, "def biggest(xs):\n    return 3\n", source).redefined
