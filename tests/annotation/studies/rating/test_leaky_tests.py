"""A rater reads the agents' test, never what its writer thinks of the candidate."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.studies.rating.leaky_tests import has_leaky_words, redact_leaky_test
from sandbox.reports.report import Assertion, CaseOutcome, CaseResult, Frame, Outcome, Raised, Report

PROGRAM = '''def test_should_fail_for_wrong_order():
    """The candidate does not reverse, so this is no match."""
    # expected failure: incorrect implementation
    items = [1, 2]
    assert reverse(items) == [2, 1], "the code is wrong"


test_should_fail_for_wrong_order()
'''


@pytest.mark.parametrize(
    "words",
    [
        "# no match",
        "test_should_fail",
        "testShouldFail",
        "# this will fail because the order is kept",
        "expected_failure",
        "incorrect_implementation",
        "# The candidate is incorrect",
        "# the snippet doesn't do what was asked",
        "# does not implement the query",
        "BuggyCandidate",
        "# not what the query asks for",
        "xfail",
        "# exact behaviour: the code is a match",
    ],
)
def test_words_that_tell(words: str) -> None:
    assert has_leaky_words(words)


@pytest.mark.parametrize(
    "words",
    [
        "# an empty list stays empty",
        "test_reverses_in_place",
        "match = re.match(pattern, text)",
        "# raises ValueError for a negative number",
        "expected",
        "fails_on_missing_file",
        "# the function returns None",
        "# the error message",
    ],
)
def test_words_that_only_describe(words: str) -> None:
    assert not has_leaky_words(words)


def test_comments_and_texts_are_hidden_and_names_replaced_on_the_same_lines() -> None:
    made = redact_leaky_test(PROGRAM)
    lines = made.text.split("\n")
    assert lines[0] == "def name_1():"
    assert lines[1] == '    "(hidden)"'
    assert lines[2] == "    # (hidden)"
    assert lines[3] == "    items = [1, 2]"
    assert lines[4] == '    assert reverse(items) == [2, 1], "(hidden)"'
    assert lines[7] == "name_1()"
    assert made.told == 5
    assert len(lines) == len(PROGRAM.split("\n"))


def test_what_tells_nothing_stays_as_it_is() -> None:
    source = 'def main():\n    # in place\n    assert reverse([1]) == [1], "one"\n'
    assert redact_leaky_test(source).text == source
    assert redact_leaky_test(source).told == 0


def test_values_and_the_candidates_own_names_stay() -> None:
    source = 'assert find_no_match("no match") == "no match"\n'
    assert redact_leaky_test(source, "def find_no_match(text):\n    return text\n").text == source


def test_the_report_tells_nothing_either() -> None:
    report = Report(
        Outcome.FAILED,
        assertions=(
            Assertion(5, 'assert reverse(items) == [2, 1], "the code is wrong"', False, "[1]", "[2]", True),
        ),
        stdout="before\nThe candidate is wrong\n",
        turns=(30,),
        raised=Raised(
            "AssertionError",
            "the code is wrong",
            (Frame("program", 1, "test_should_fail_for_wrong_order", "test_should_fail_for_wrong_order()"),),
        ),
        case_results=(
            CaseResult(
                "r1_should_fail_for_wrong_order",
                CaseOutcome.CRASHED,
                raised=Raised("ValueError", "the code is wrong"),
            ),
        ),
    )
    made = redact_leaky_test(PROGRAM).report(report)
    assert not any(word in made.to_json() for word in ("wrong", "should_fail"))
    assert made.assertions[0].left == "[1]"
    assert made.stdout == "before\n(hidden)\n"


def test_a_text_of_many_lines_keeps_its_lines() -> None:
    source = '"""The code\nis wrong: no match\n"""\nassert f() == 1\n'
    made = redact_leaky_test(source)
    assert "wrong" not in made.text
    assert made.text.split("\n")[3] == "assert f() == 1"


def test_what_can_not_be_read_is_hidden_as_a_whole_where_it_tells() -> None:
    made = redact_leaky_test('x = """this code is wrong\n')
    assert "wrong" not in made.text
    assert made.told


@given(st.text(alphabet="ab# \n\"'():\\\0\rfail no match", max_size=60))
def test_any_text_can_be_hushed(source: str) -> None:
    redact_leaky_test(source)
