"""What judges read of cases that ran alone, what a test is worth, and how its cases vote."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.builds.pipeline.case_evidence import (
    PlannedCase,
    TestWorth,
    Vote,
    evidence_of,
    format_numbered_readings,
    vote_of_cases,
    weigh_test,
)
from sandbox.reports.report import Assertion, CaseOutcome, CaseResult, Outcome, OwnWord, Report

READINGS = [{"sense": "reverse it", "likelihood": 60}, {"sense": "a copy", "likelihood": 30}]
PLANNED = PlannedCase.all_of(
    [
        {"name": "r1_ordinary_a", "reading": 1, "kind": "ordinary", "checks": "a"},
        {"name": "r1_ordinary_b", "reading": 1, "kind": "ordinary", "checks": "b"},
        {"name": "r2_ordinary_c", "reading": 2, "kind": "ordinary", "checks": "c"},
        {"name": "r1_edge_d", "reading": 1, "kind": "edge", "checks": "d"},
    ]
)
TOUCHED = Assertion(1, "assert f(1) == 1", True, "1", "1", True)


def run(*held: str, touched: bool = True) -> Report:
    """A report in which exactly these cases held."""
    results = tuple(
        CaseResult(case.name, CaseOutcome.HELD if case.name in held else CaseOutcome.FAILED, 1, 0, touched)
        for case in PLANNED
    )
    return Report(Outcome.FAILED, (TOUCHED,) if touched else (), case_results=results)


def test_a_test_is_sound_if_its_reference_holds_and_a_neighbour_fails() -> None:
    reference, neighbour = run("r1_ordinary_a", "r1_ordinary_b"), run("r1_ordinary_a")
    assert weigh_test(PLANNED, reference, neighbour) == TestWorth(2, 2, 1)
    assert weigh_test(PLANNED, reference, neighbour).is_sound
    assert not weigh_test(PLANNED, run("r1_ordinary_a"), neighbour).is_sound, "1 of 2 is not all"
    assert weigh_test(PLANNED, run("r1_ordinary_a"), None).reference_failed == ("r1_ordinary_b",)
    assert not weigh_test(PLANNED, reference, reference).is_sound, "the neighbour passes everything"
    assert weigh_test(PLANNED, None, None).is_sound, "what was not run says nothing against it"


def test_a_reference_that_holds_by_its_own_word_does_not_make_a_test_sound() -> None:
    names = ("r1_ordinary_a", "r1_ordinary_b")
    reference, neighbour = run(*names), run("r1_ordinary_a")
    own = replace(TOUCHED, line=2, case=names[1], own_word=OwnWord.FEIGNED)
    feigned = replace(reference, assertions=(TOUCHED, own))
    assert weigh_test(PLANNED, feigned, neighbour) == TestWorth(2, 1, 1, ("r1_ordinary_b",))
    assert not weigh_test(PLANNED, replace(reference, outcome=Outcome.UNPROVEN), neighbour).is_sound
    assert not weigh_test(PLANNED, replace(reference, suspicious=("it forges",)), neighbour).is_sound
    # An assertion that holds otherwise makes up for a class's own equality, not for a feigned one.
    own_equality = replace(feigned, assertions=(TOUCHED, replace(own, own_word=OwnWord.CLASS)))
    assert weigh_test(PLANNED, own_equality, neighbour).is_sound
    # A neighbour that was not told apart was not told apart, by whose word ever.
    assert not weigh_test(PLANNED, reference, feigned).tells_neighbour


@pytest.mark.parametrize(
    ("held", "label"),
    [
        (("r1_ordinary_a", "r1_ordinary_b"), 1),
        (("r2_ordinary_c",), 1),
        (("r1_ordinary_a", "r1_edge_d"), 0),
        ((), 0),
    ],
)
def test_a_common_reading_whose_ordinary_cases_all_hold_is_a_vote_for_a_match(
    held: tuple[str, ...], label: int
) -> None:
    vote = vote_of_cases(READINGS, PLANNED, run(*held), None)
    assert vote is not None
    assert vote.label == label


def test_a_rare_reading_is_not_enough() -> None:
    rare = [READINGS[0], READINGS[1] | {"likelihood": 24}]
    vote = vote_of_cases(rare, PLANNED, run("r2_ordinary_c"), None)
    assert vote is not None
    assert vote.label == 0


def test_a_test_that_is_not_sound_or_touches_nothing_has_no_vote() -> None:
    unsound = weigh_test(PLANNED, run(), None)
    assert vote_of_cases(READINGS, PLANNED, run("r1_ordinary_a", "r1_ordinary_b"), unsound) is None
    assert vote_of_cases(READINGS, PLANNED, run(touched=False), None) is None


def test_what_holds_by_the_snippets_own_word_is_no_vote() -> None:
    likeliest = ("r1_ordinary_a", "r1_ordinary_b")
    own = tuple(replace(TOUCHED, case=name, own_word=OwnWord.CLASS) for name in likeliest)
    proven = replace(own[1], own_word=OwnWord.NONE)
    unproven = replace(run(*likeliest), assertions=own)
    assert vote_of_cases(READINGS, PLANNED, unproven, None) is None
    assert vote_of_cases(READINGS, PLANNED, replace(run(*likeliest), outcome=Outcome.UNPROVEN), None) is None
    # A case of the reading that proves something, or another reading that holds, has its vote.
    assert vote_of_cases(READINGS, PLANNED, replace(unproven, assertions=(own[0], proven)), None) == Vote(
        1, 1, 2
    )
    both = replace(run(*likeliest, "r2_ordinary_c"), assertions=own)
    assert vote_of_cases(READINGS, PLANNED, both, None) == Vote(1, 2, 1)
    # Where a case fails, the reading does not hold, by whose word ever.
    assert vote_of_cases(READINGS, PLANNED, replace(run(likeliest[0]), assertions=own), None) == Vote(0)


def test_a_run_that_cannot_be_relied_on_is_no_vote() -> None:
    held = run("r1_ordinary_a", "r1_ordinary_b")
    assert vote_of_cases(READINGS, PLANNED, replace(held, suspicious=("the program forges",)), None) is None


@given(st.sets(st.sampled_from([case.name for case in PLANNED])), st.sampled_from(PLANNED))
def test_one_more_case_that_holds_never_turns_a_match_into_none(held: set[str], more: PlannedCase) -> None:
    before = vote_of_cases(READINGS, PLANNED, run(*held), None)
    after = vote_of_cases(READINGS, PLANNED, run(*held, more.name), None)
    assert before is not None
    assert after is not None
    assert after.label >= before.label


def test_the_evidence_sums_up_by_reading_and_kind_and_says_what_the_test_is_worth() -> None:
    worth = weigh_test(PLANNED, run("r1_ordinary_a", "r1_ordinary_b"), run())
    text = evidence_of(PLANNED, run("r1_ordinary_a"), worth, "sorts instead")
    assert text.startswith(
        "held: reading 1 ordinary 1 of 2; reading 1 edge 0 of 1; reading 2 ordinary 0 of 1\n"
    )
    assert "case r1_ordinary_a: held" in text
    assert "reference holds 2 of 2" in text
    assert "a neighbour of the task (sorts instead) holds 0 of 2" in text
    assert format_numbered_readings(READINGS) == "1. (60 %) reverse it\n2. (30 %) a copy"
