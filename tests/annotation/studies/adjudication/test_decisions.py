"""Pairs without a strict majority: what waits, who may decide, what is stored and what is left as it was."""

from __future__ import annotations

from dataclasses import replace

import pytest
from django.contrib.auth.models import User

from annotation.builds.pipeline.execution import SandboxProvider, fulfil_one
from annotation.models import (
    Adjudication,
    Assignment,
    AuditEvent,
    Condition,
    Enrolment,
    Precedent,
    ProgramText,
    Rating,
    Study,
    StudyPair,
    TestProgram,
)
from annotation.review.own_runs import cross_tests
from annotation.studies.adjudication import decisions
from annotation.studies.adjudication.decisions import (
    AdjudicatedMeanwhile,
    AdjudicationDecision,
    BadAdjudication,
    MayNotAdjudicate,
    decisions_of,
    given_of,
    load_split_pairs,
    store_decision,
    voters_of,
)
from annotation.studies.adjudication.precedents import search_precedents
from annotation.studies.audit_log import find_audit_events
from annotation.studies.enrolment.repeat_rounds import RepeatPairFilter, ask_again
from annotation.studies.plan.control import Action, perform_study_action
from annotation.studies.report import figure_data
from annotation.studies.report.records import PARTS
from sandbox.program import Limits
from sandbox.protocol import Sandbox
from tests import factories, studies
from tests.annotation.studies.rated import many_pairs
from tests.sandbox.conftest import bubblewrap, home

__all__ = ["bubblewrap", "home"]  # fixtures
pytestmark = pytest.mark.django_db
RIGHT = AdjudicationDecision(1, "slip", "the third one missed that it returns the list")


@pytest.fixture
def study() -> Study:
    """A running study of three pairs, four raters a pair."""
    return studies.study(raters=4)


@pytest.fixture
def raters(study: Study) -> list[Enrolment]:
    return [studies.rater(name, study) for name in ("ro", "ri", "ru", "re")]


@pytest.fixture
def judge() -> User:
    return studies.user("judge")


def pair(study: Study, number: int = 1) -> StudyPair:
    return StudyPair.objects.select_related(
        "study__guideline", "pair__query__body", "pair__snippet__body"
    ).get(study=study, number=number)


def said(study: Study, raters: list[Enrolment], *votes: int | None, number: int = 1) -> StudyPair:
    for rater, vote in zip(raters, votes, strict=False):
        studies.rated(rater, vote, pair(study, number))
    return pair(study, number)


def condition(study: Study) -> Condition:
    return studies.condition(study)


def test_what_waits_is_the_full_quorum_without_a_majority_lowest_agreement_first(
    study: Study, raters: list[Enrolment]
) -> None:
    said(study, raters, 1, 1, 0, 0, number=1)
    said(study, raters, 1, None, None, 0, number=2)
    said(study, raters, 1, 0, number=3)

    assert [(one.number, one.votes, round(one.agreement, 2)) for one in load_split_pairs(study)] == [
        (2, (1, None, None, 0), 0.0),
        (1, (1, 1, 0, 0), 0.33),
    ]


def test_a_majority_waits_for_nobody(study: Study, raters: list[Enrolment]) -> None:
    said(study, raters, 1, 1, 1, 0)
    assert load_split_pairs(study) == []


def test_raters_who_agree_on_match_or_not_wait_for_nobody(study: Study, raters: list[Enrolment]) -> None:
    """Of *all of it, at least half, less* three of four say that it is no exact match; then two of four."""
    Study.objects.update(scale=Study.Scale.STEPS)
    study.refresh_from_db()
    said(study, raters, 2, 1, 0, 0, number=1)
    said(study, raters, 2, 2, 1, 0, number=2)
    assert [(one.number, one.votes) for one in load_split_pairs(study)] == [(2, (2, 2, 1, 0))]


def test_who_is_excluded_has_no_say(study: Study, raters: list[Enrolment]) -> None:
    said(study, raters, 1, 1, 1, 0, number=1)
    said(study, raters, 1, 1, 0, 0, number=2)
    said(study, raters, 0, 1, 1, 1, number=3)
    assert [one.number for one in load_split_pairs(study)] == [2]

    Enrolment.objects.filter(pk=raters[0].pk).update(excluded=True)
    # Of four planned raters two are no majority, as in the figures; three still are.
    assert [(one.number, one.votes) for one in load_split_pairs(study)] == [(1, (1, 1, 0)), (2, (1, 0, 0))]
    assert [one.pseudonym for one in voters_of(pair(study, 2), condition(study))] == ["R02", "R03", "R04"]
    Enrolment.objects.update(excluded=True)
    assert load_split_pairs(study) == []


def test_a_decision_is_in_the_audit_log(study: Study, raters: list[Enrolment], judge: User) -> None:
    found = said(study, raters, 1, 1, 0, 0)
    first = store_decision(judge, found, condition(study), RIGHT, 0)
    store_decision(
        judge, found, condition(study), AdjudicationDecision(None, "query", "both readings hold"), first.pk
    )

    later, earlier = find_audit_events(verb="split decided", study=study.pk)
    assert earlier.what == "pair 1 of first study" and earlier.user == judge
    assert earlier.detail == {
        "pair": 1,
        "condition": "own tests",
        "value_after": 1,
        "cause_after": "slip",
        "note_after": RIGHT.note,
    }
    assert (later.detail["value_before"], later.detail["value_after"]) == (1, None)
    assert later.detail["note_before"] == RIGHT.note
    with pytest.raises(BadAdjudication):
        store_decision(judge, found, condition(study), AdjudicationDecision(1, "slip", ""), first.pk)
    assert AuditEvent.objects.filter(verb="split decided").count() == 2


def test_planted_pairs_never_wait(study: Study, raters: list[Enrolment]) -> None:
    found = said(study, raters, 1, 1, 0, 0)
    StudyPair.objects.filter(pk=found.pk).update(planted="attention", answer=1)
    assert load_split_pairs(study) == []


def test_the_last_round_and_the_last_revision_count(study: Study, raters: list[Enrolment]) -> None:
    found = said(study, raters, 1, 1, 0, 0)
    last = Rating.objects.get(assignment__rater=raters[3].user)
    Rating.objects.create(assignment=last.assignment, value=1, revision=2, supersedes=last, evidence="0" * 64)
    assert load_split_pairs(study) == []
    again = Assignment.objects.create(
        enrolment=raters[3],
        study_pair=found,
        condition=condition(study),
        rater=raters[3].user,
        round=2,
        position=9,
        token="t" * 32,
        reserved_until=last.created_at,
        state=Assignment.State.DONE,
    )
    Rating.objects.create(assignment=again, value=0, revision=1, evidence="0" * 64)
    assert load_split_pairs(study) == []
    # From when the second round is open, what was said in the first one counts no more.
    found.quotas.update(round=2, opened_at=last.created_at, reserved=1, done=1)
    assert given_of(study) == {(found.pk, 1, condition(study).pk): [0]}
    assert [one.rating.value for one in voters_of(found, condition(study))] == [0]
    assert load_split_pairs(study) == []


def test_a_decision_on_an_earlier_round_stands_no_more(
    study: Study, raters: list[Enrolment], judge: User
) -> None:
    found = said(study, raters, 1, 1, 0, 0)
    store_decision(judge, found, condition(study), RIGHT, 0)
    assert [one.decision is None for one in load_split_pairs(study)] == [False]
    ask_again(study, RepeatPairFilter(every=True), "stricter now", factories.ada())
    for rater, value in zip(raters, (1, 0, 0, 1), strict=True):
        studies.rated(rater, value, found)
    assert [one.decision for one in load_split_pairs(study)] == [None]
    assert decisions_of(study) == {} and figure_data.gather_figure_data(study).adjudicated == {}


def test_a_pair_that_gets_no_more_ratings_is_decided_too(study: Study, raters: list[Enrolment]) -> None:
    said(study, raters, 1, 0, number=1)
    said(study, raters, 1, 1, 1, number=2)
    assert load_split_pairs(study) == []
    for rater in raters[2:]:
        studies.assignment(rater, pair(study), state=Assignment.State.SKIPPED)
    study.pairs.get(number=1).quotas.update(reserved=2)
    assert [(one.number, one.votes) for one in load_split_pairs(study)] == [(1, (1, 0))]
    studies.rater("rolf", study)  # who can still take the pair
    assert load_split_pairs(study) == []
    perform_study_action(study, Action.CLOSE, factories.ada(), "time is up")
    assert [(one.number, one.votes) for one in load_split_pairs(study)] == [(1, (1, 0))]
    made = store_decision(studies.user("judge"), pair(study), condition(study), RIGHT, 0)
    assert made.value == 1


def test_a_decision_stands_beside_the_ratings(study: Study, raters: list[Enrolment], judge: User) -> None:
    found = said(study, raters, 1, 1, 0, 0)
    before = list(Rating.objects.values())
    made = store_decision(
        judge, found, condition(study), AdjudicationDecision(1, "slip", " one\r\nslip \0"), 0
    )

    assert (made.value, made.cause, made.note, made.by, made.supersedes) == (
        1,
        "slip",
        "one\nslip ␀",
        judge,
        None,
    )
    assert list(Rating.objects.values()) == before
    assert [one.decision for one in load_split_pairs(study)] == [made]


def test_a_later_decision_takes_its_place_and_both_are_kept(
    study: Study, raters: list[Enrolment], judge: User
) -> None:
    found = said(study, raters, 1, 1, 0, 0)
    first = store_decision(judge, found, condition(study), RIGHT, 0)
    second = store_decision(
        factories.ada(),
        found,
        condition(study),
        AdjudicationDecision(None, "query", "two readings"),
        first.pk,
    )

    assert decisions.history_of(found, condition(study)) == [second, first]
    assert [one.decision for one in load_split_pairs(study)] == [second]


def test_who_has_not_seen_the_last_decision_stores_nothing(
    study: Study, raters: list[Enrolment], judge: User
) -> None:
    found = said(study, raters, 1, 1, 0, 0)
    first = store_decision(judge, found, condition(study), RIGHT, 0)
    with pytest.raises(AdjudicatedMeanwhile) as lost:
        store_decision(factories.ada(), found, condition(study), RIGHT, 0)

    assert lost.value.stored == first
    assert Adjudication.objects.count() == 1


@pytest.mark.parametrize(
    ("decision", "complaint"),
    [
        (AdjudicationDecision(3, "slip", "why"), "scale"),
        (AdjudicationDecision(1, "weather", "why"), "why raters split"),
        (AdjudicationDecision(1, "slip", " \n"), "note"),
        (AdjudicationDecision(1, "slip", "x" * 10_001), "at most 10,000"),
    ],
)
def test_what_can_be_no_decision_is_refused(
    study: Study, raters: list[Enrolment], judge: User, decision: AdjudicationDecision, complaint: str
) -> None:
    found = said(study, raters, 1, 1, 0, 0)
    with pytest.raises(BadAdjudication, match=complaint):
        store_decision(judge, found, condition(study), decision, 0)
    assert not Adjudication.objects.exists()


def test_where_raters_agree_or_are_not_through_there_is_nothing_to_decide(
    study: Study, raters: list[Enrolment], judge: User
) -> None:
    for number, votes in ((1, (1, 1, 1, 0)), (2, (1, 0))):
        found = said(study, raters, *votes, number=number)
        with pytest.raises(BadAdjudication, match="strict majority"):
            store_decision(judge, found, condition(study), RIGHT, 0)


def test_lines_of_the_function_are_the_reason_of_a_decision(
    study: Study, raters: list[Enrolment], judge: User
) -> None:
    found = said(study, raters, 1, 1, 0, 0)
    made = store_decision(judge, found, condition(study), replace(RIGHT, lines="1-2"), 0)
    made = Adjudication.objects.get(pk=made.pk)

    assert (made.marked_lines, made.marked_code) == ("1-2", found.pair.snippet.digest)
    assert find_audit_events(verb="split decided")[0].detail["lines_after"] == "1-2"
    (row,) = PARTS["decisions"].rows(study)
    assert (row["marked_first"], row["marked_last"], row["marked_code"]) == (1, 2, made.marked_code)


def test_lines_that_are_none_decide_nothing(study: Study, raters: list[Enrolment], judge: User) -> None:
    found = said(study, raters, 1, 1, 0, 0)
    with pytest.raises(BadAdjudication, match="the lines 1 to"):
        store_decision(judge, found, condition(study), replace(RIGHT, lines="1-99"), 0)
    found.other = many_pairs(2)[1]
    with pytest.raises(BadAdjudication, match="two functions"):
        decisions.find_decision_lines(found, "1")
    assert not Adjudication.objects.exists()


def test_nobody_decides_on_a_pair_that_they_rated(study: Study, raters: list[Enrolment]) -> None:
    found = said(study, raters, 1, 1, 0, 0)
    Study.objects.update(state=Study.State.CLOSED)
    rater = User.objects.get(pk=raters[0].user_id)
    with pytest.raises(MayNotAdjudicate, match="You rated this pair yourself"):
        store_decision(rater, found, condition(study), RIGHT, 0)


def test_nobody_decides_on_a_pair_that_they_rated_in_another_study(
    study: Study, raters: list[Enrolment], judge: User
) -> None:
    found = said(study, raters, 1, 1, 0, 0)
    other = studies.study("second", pairs=[found.pair], state=Study.State.CLOSED)
    studies.rated(studies.rater("judge", other), 1)
    with pytest.raises(MayNotAdjudicate):
        store_decision(User.objects.get(pk=judge.pk), found, condition(study), RIGHT, 0)


def test_nobody_decides_while_blind_in_the_study(study: Study, raters: list[Enrolment], judge: User) -> None:
    found = said(study, raters, 1, 1, 0, 0)
    mine = studies.rater("judge", study)
    with pytest.raises(MayNotAdjudicate, match="You still rate in"):
        store_decision(User.objects.get(pk=judge.pk), found, condition(study), RIGHT, 0)
    Enrolment.objects.filter(pk=mine.pk).update(finished_at=mine.accepted_at)

    assert store_decision(User.objects.get(pk=judge.pk), found, condition(study), RIGHT, 0)


def test_a_decision_can_be_a_precedent(study: Study, raters: list[Enrolment], judge: User) -> None:
    found = said(study, raters, 1, 1, 0, 0)
    Rating.objects.filter(assignment__rater=raters[0].user).update(tags=["partial"])
    first = store_decision(
        judge, found, condition(study), AdjudicationDecision(1, "code", "reverse returns", True), 0
    )
    kept = Precedent.objects.get()

    assert (kept.adjudication, kept.guideline_name, kept.value, kept.tags) == (first, "rules", 1, ["partial"])
    assert (kept.query, kept.code) == (found.pair.query.text, found.pair.snippet.text)
    for words in ("", "RETURNS", "reverse list", "partial", "items.reverse"):
        assert list(search_precedents(judge, words)) == [kept], words
    assert not search_precedents(judge, "unheard of").exists()
    assert not search_precedents(judge, guidelines="others").exists()
    store_decision(judge, found, condition(study), RIGHT, first.pk)
    assert not search_precedents(judge).exists(), "its decision does not stand any more"


def test_a_precedent_of_a_comparison_has_both_snippets(judge: User) -> None:
    first, second = many_pairs(2)
    both = studies.study(pairs=[first], kind="pairwise", scale="preference")
    both.pairs.update(other=second)
    found = said(both, [studies.rater(name, both) for name in ("ro", "ri", "ru")], 1, -1, 0)
    store_decision(
        judge,
        found,
        condition(both),
        AdjudicationDecision(-1, "code", "the second does all", precedent=True),
        0,
    )
    assert Precedent.objects.get().code == (
        "# The first function:\ndef f0(): return 0\n\n\n# The second function:\ndef f1(): return 1"
    )


def test_who_still_rates_the_pair_is_not_told_its_precedent(
    study: Study, raters: list[Enrolment], judge: User
) -> None:
    store_decision(
        judge,
        said(study, raters, 1, 1, 0, 0),
        condition(study),
        AdjudicationDecision(1, "code", "so", True),
        0,
    )
    blind, other = studies.rater("late", study).user, studies.user("other")
    Precedent.objects.create(
        guideline_name="rules", query=pair(study, 2).pair.query.text, reason="so", created_by=judge
    )

    assert search_precedents(other).count() == 2
    assert search_precedents(User.objects.get(pk=blind.pk)).count() == 0


def test_without_guidelines_there_is_no_precedent(study: Study, raters: list[Enrolment], judge: User) -> None:
    Study.objects.update(guideline=None)
    found = said(study, raters, 1, 1, 0, 0)
    with pytest.raises(BadAdjudication, match="no guidelines"):
        store_decision(judge, found, condition(study), AdjudicationDecision(1, "code", "so", True), 0)


def own_test(rating: Rating, source: str) -> TestProgram:
    return TestProgram.objects.create(
        pair=rating.assignment.study_pair.pair,
        source=ProgramText.keep(source),
        reading="in place",
        author=rating.assignment.rater,
        assignment=rating.assignment,
    )


def test_each_raters_tests_are_under_the_pseudonym(study: Study, raters: list[Enrolment]) -> None:
    found = said(study, raters, 1, 1, 0, 0)
    first = Rating.objects.get(assignment__rater=raters[0].user)
    own_test(first, "assert 1")
    last = own_test(first, "assert reverse([1]) == [1]")
    studies.rated(studies.rater("other", studies.study("second", pairs=[found.pair], raters=1)), 0)
    voters = voters_of(found, condition(study))

    assert [voter.pseudonym for voter in voters] == ["R01", "R02", "R03", "R04"]
    assert [len(voter.programs) for voter in voters] == [2, 0, 0, 0]
    assert [test.program for _, test in decisions.last_tests(voters)] == [last]


def test_their_tests_run_crosswise_on_the_candidate(
    study: Study, raters: list[Enrolment], judge: User, bubblewrap: Sandbox
) -> None:
    found = said(study, raters, 1, 1, 0, 0)
    ratings = Rating.objects.order_by("id")
    own_test(ratings[0], "assert reverse([1, 2]) == [2, 1]\n")
    own_test(ratings[2], "assert reverse([1, 2]) is None\n")
    grid = decisions.build_adjudication_grid(found, voters_of(found, condition(study)))
    assert cross_tests.ask_grid(judge, grid) == 2
    while fulfil_one(SandboxProvider(open=lambda: bubblewrap), Limits(seconds=5)):
        pass

    rows = decisions.build_adjudication_grid(found, voters_of(found, condition(study))).rows
    assert [[cell.outcome for cell in row.cells] for row in rows] == [["passed"], ["failed"]]
