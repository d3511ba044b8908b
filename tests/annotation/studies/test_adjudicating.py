"""Pairs without a strict majority: what waits, who may decide, what is stored and what is left as it was."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User

from annotation.executing import SandboxProvider, fulfil_one
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
from annotation.review import crossing
from annotation.studies import adjudicating, gathering
from annotation.studies.adjudicating import (
    AdjudicatedMeanwhile,
    BadAdjudication,
    Decision,
    MayNotAdjudicate,
    decide,
    given_of,
    splits,
    voters_of,
)
from annotation.studies.asking_again import Choice, ask_again
from annotation.studies.auditing import events
from annotation.studies.controlling import Action, control
from annotation.studies.precedents import precedents
from annotation.studies.verifying import adjudicated
from sandbox.program import Limits
from sandbox.protocol import Sandbox
from tests import factories, studies
from tests.annotation.studies.rated import many_pairs
from tests.sandbox.conftest import bubblewrap, home

__all__ = ["bubblewrap", "home"]  # fixtures
pytestmark = pytest.mark.django_db
RIGHT = Decision(1, "slip", "the third one missed that it returns the list")


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

    assert [(one.number, one.votes, round(one.agreement, 2)) for one in splits(study)] == [
        (2, (1, None, None, 0), 0.0),
        (1, (1, 1, 0, 0), 0.33),
    ]


def test_a_majority_waits_for_nobody(study: Study, raters: list[Enrolment]) -> None:
    said(study, raters, 1, 1, 1, 0)
    assert splits(study) == []


def test_raters_who_agree_on_match_or_not_wait_for_nobody(study: Study, raters: list[Enrolment]) -> None:
    """Of *all of it, at least half, less* three of four say that it is no exact match; then two of four."""
    Study.objects.update(scale=Study.Scale.STEPS)
    study.refresh_from_db()
    said(study, raters, 2, 1, 0, 0, number=1)
    said(study, raters, 2, 2, 1, 0, number=2)
    assert [(one.number, one.votes) for one in splits(study)] == [(2, (2, 2, 1, 0))]


def test_who_is_excluded_has_no_say(study: Study, raters: list[Enrolment]) -> None:
    said(study, raters, 1, 1, 1, 0, number=1)
    said(study, raters, 1, 1, 0, 0, number=2)
    said(study, raters, 0, 1, 1, 1, number=3)
    assert [one.number for one in splits(study)] == [2]

    Enrolment.objects.filter(pk=raters[0].pk).update(excluded=True)
    # Of four planned raters two are no majority, as in the figures; three still are.
    assert [(one.number, one.votes) for one in splits(study)] == [(1, (1, 1, 0)), (2, (1, 0, 0))]
    assert [one.pseudonym for one in voters_of(pair(study, 2), condition(study))] == ["R02", "R03", "R04"]
    Enrolment.objects.update(excluded=True)
    assert splits(study) == []


def test_a_decision_is_in_the_audit_log(study: Study, raters: list[Enrolment], judge: User) -> None:
    found = said(study, raters, 1, 1, 0, 0)
    first = decide(judge, found, condition(study), RIGHT, 0)
    decide(judge, found, condition(study), Decision(None, "query", "both readings hold"), first.pk)

    later, earlier = events(verb="split decided", study=study.pk)
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
        decide(judge, found, condition(study), Decision(1, "slip", ""), first.pk)
    assert AuditEvent.objects.filter(verb="split decided").count() == 2


def test_planted_pairs_never_wait(study: Study, raters: list[Enrolment]) -> None:
    found = said(study, raters, 1, 1, 0, 0)
    StudyPair.objects.filter(pk=found.pk).update(planted="attention", answer=1)
    assert splits(study) == []


def test_the_last_round_and_the_last_revision_count(study: Study, raters: list[Enrolment]) -> None:
    found = said(study, raters, 1, 1, 0, 0)
    last = Rating.objects.get(assignment__rater=raters[3].user)
    Rating.objects.create(assignment=last.assignment, value=1, revision=2, supersedes=last, evidence="0" * 64)
    assert splits(study) == []
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
    assert splits(study) == []
    # From when the second round is open, what was said in the first one counts no more.
    found.quotas.update(round=2, opened_at=last.created_at, reserved=1, done=1)
    assert given_of(study) == {(found.pk, 1, condition(study).pk): [0]}
    assert [one.rating.value for one in voters_of(found, condition(study))] == [0]
    assert splits(study) == []


def test_a_decision_on_an_earlier_round_stands_no_more(
    study: Study, raters: list[Enrolment], judge: User
) -> None:
    found = said(study, raters, 1, 1, 0, 0)
    decide(judge, found, condition(study), RIGHT, 0)
    assert [one.decision is None for one in splits(study)] == [False]
    ask_again(study, Choice(every=True), "stricter now", factories.ada())
    for rater, value in zip(raters, (1, 0, 0, 1), strict=True):
        studies.rated(rater, value, found)
    assert [one.decision for one in splits(study)] == [None]
    assert adjudicated(condition(study)) == {} and gathering.gather(study).adjudicated == {}


def test_a_pair_that_gets_no_more_ratings_is_decided_too(study: Study, raters: list[Enrolment]) -> None:
    said(study, raters, 1, 0, number=1)
    said(study, raters, 1, 1, 1, number=2)
    assert splits(study) == []
    for rater in raters[2:]:
        studies.assignment(rater, pair(study), state=Assignment.State.SKIPPED)
    study.pairs.get(number=1).quotas.update(reserved=2)
    assert [(one.number, one.votes) for one in splits(study)] == [(1, (1, 0))]
    studies.rater("rolf", study)  # who can still take the pair
    assert splits(study) == []
    control(study, Action.CLOSE, factories.ada(), "time is up")
    assert [(one.number, one.votes) for one in splits(study)] == [(1, (1, 0))]
    made = decide(studies.user("judge"), pair(study), condition(study), RIGHT, 0)
    assert made.value == 1


def test_a_decision_stands_beside_the_ratings(study: Study, raters: list[Enrolment], judge: User) -> None:
    found = said(study, raters, 1, 1, 0, 0)
    before = list(Rating.objects.values())
    made = decide(judge, found, condition(study), Decision(1, "slip", " one\r\nslip \0"), 0)

    assert (made.value, made.cause, made.note, made.by, made.supersedes) == (
        1,
        "slip",
        "one\nslip ␀",
        judge,
        None,
    )
    assert list(Rating.objects.values()) == before
    assert [one.decision for one in splits(study)] == [made]


def test_a_later_decision_takes_its_place_and_both_are_kept(
    study: Study, raters: list[Enrolment], judge: User
) -> None:
    found = said(study, raters, 1, 1, 0, 0)
    first = decide(judge, found, condition(study), RIGHT, 0)
    second = decide(
        factories.ada(), found, condition(study), Decision(None, "query", "two readings"), first.pk
    )

    assert adjudicating.history_of(found, condition(study)) == [second, first]
    assert [one.decision for one in splits(study)] == [second]


def test_who_has_not_seen_the_last_decision_stores_nothing(
    study: Study, raters: list[Enrolment], judge: User
) -> None:
    found = said(study, raters, 1, 1, 0, 0)
    first = decide(judge, found, condition(study), RIGHT, 0)
    with pytest.raises(AdjudicatedMeanwhile) as lost:
        decide(factories.ada(), found, condition(study), RIGHT, 0)

    assert lost.value.stored == first
    assert Adjudication.objects.count() == 1


@pytest.mark.parametrize(
    ("decision", "complaint"),
    [
        (Decision(3, "slip", "why"), "scale"),
        (Decision(1, "weather", "why"), "why raters split"),
        (Decision(1, "slip", " \n"), "note"),
        (Decision(1, "slip", "x" * 10_001), "at most 10,000"),
    ],
)
def test_what_can_be_no_decision_is_refused(
    study: Study, raters: list[Enrolment], judge: User, decision: Decision, complaint: str
) -> None:
    found = said(study, raters, 1, 1, 0, 0)
    with pytest.raises(BadAdjudication, match=complaint):
        decide(judge, found, condition(study), decision, 0)
    assert not Adjudication.objects.exists()


def test_where_raters_agree_or_are_not_through_there_is_nothing_to_decide(
    study: Study, raters: list[Enrolment], judge: User
) -> None:
    for number, votes in ((1, (1, 1, 1, 0)), (2, (1, 0))):
        found = said(study, raters, *votes, number=number)
        with pytest.raises(BadAdjudication, match="strict majority"):
            decide(judge, found, condition(study), RIGHT, 0)


def test_nobody_decides_on_a_pair_that_they_rated(study: Study, raters: list[Enrolment]) -> None:
    found = said(study, raters, 1, 1, 0, 0)
    Study.objects.update(state=Study.State.CLOSED)
    rater = User.objects.get(pk=raters[0].user_id)
    with pytest.raises(MayNotAdjudicate, match="You rated this pair yourself"):
        decide(rater, found, condition(study), RIGHT, 0)


def test_nobody_decides_on_a_pair_that_they_rated_in_another_study(
    study: Study, raters: list[Enrolment], judge: User
) -> None:
    found = said(study, raters, 1, 1, 0, 0)
    other = studies.study("second", pairs=[found.pair], state=Study.State.CLOSED)
    studies.rated(studies.rater("judge", other), 1)
    with pytest.raises(MayNotAdjudicate):
        decide(User.objects.get(pk=judge.pk), found, condition(study), RIGHT, 0)


def test_nobody_decides_while_blind_in_the_study(study: Study, raters: list[Enrolment], judge: User) -> None:
    found = said(study, raters, 1, 1, 0, 0)
    mine = studies.rater("judge", study)
    with pytest.raises(MayNotAdjudicate, match="You still rate in"):
        decide(User.objects.get(pk=judge.pk), found, condition(study), RIGHT, 0)
    Enrolment.objects.filter(pk=mine.pk).update(finished_at=mine.accepted_at)

    assert decide(User.objects.get(pk=judge.pk), found, condition(study), RIGHT, 0)


def test_a_decision_can_be_a_precedent(study: Study, raters: list[Enrolment], judge: User) -> None:
    found = said(study, raters, 1, 1, 0, 0)
    Rating.objects.filter(assignment__rater=raters[0].user).update(tags=["partial"])
    first = decide(judge, found, condition(study), Decision(1, "code", "reverse returns", True), 0)
    kept = Precedent.objects.get()

    assert (kept.adjudication, kept.guideline_name, kept.value, kept.tags) == (first, "rules", 1, ["partial"])
    assert (kept.query, kept.code) == (found.pair.query.text, found.pair.snippet.text)
    for words in ("", "RETURNS", "reverse list", "partial", "items.reverse"):
        assert list(precedents(judge, words)) == [kept], words
    assert not precedents(judge, "unheard of").exists()
    assert not precedents(judge, guidelines="others").exists()
    decide(judge, found, condition(study), RIGHT, first.pk)
    assert not precedents(judge).exists(), "its decision does not stand any more"


def test_a_precedent_of_a_comparison_has_both_snippets(judge: User) -> None:
    first, second = many_pairs(2)
    both = studies.study(pairs=[first], kind="pairwise", scale="preference")
    both.pairs.update(other=second)
    found = said(both, [studies.rater(name, both) for name in ("ro", "ri", "ru")], 1, -1, 0)
    decide(judge, found, condition(both), Decision(-1, "code", "the second does all", precedent=True), 0)
    assert Precedent.objects.get().code == (
        "# The first snippet:\ndef f0(): return 0\n\n\n# The second snippet:\ndef f1(): return 1"
    )


def test_who_still_rates_the_pair_is_not_told_its_precedent(
    study: Study, raters: list[Enrolment], judge: User
) -> None:
    decide(judge, said(study, raters, 1, 1, 0, 0), condition(study), Decision(1, "code", "so", True), 0)
    blind, other = studies.rater("late", study).user, studies.user("other")
    Precedent.objects.create(
        guideline_name="rules", query=pair(study, 2).pair.query.text, why="so", created_by=judge
    )

    assert precedents(other).count() == 2
    assert precedents(User.objects.get(pk=blind.pk)).count() == 0


def test_without_guidelines_there_is_no_precedent(study: Study, raters: list[Enrolment], judge: User) -> None:
    Study.objects.update(guideline=None)
    found = said(study, raters, 1, 1, 0, 0)
    with pytest.raises(BadAdjudication, match="no guidelines"):
        decide(judge, found, condition(study), Decision(1, "code", "so", True), 0)


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
    assert [test.program for _, test in adjudicating.last_tests(voters)] == [last]


def test_their_tests_run_crosswise_on_the_candidate(
    study: Study, raters: list[Enrolment], judge: User, bubblewrap: Sandbox
) -> None:
    found = said(study, raters, 1, 1, 0, 0)
    ratings = Rating.objects.order_by("id")
    own_test(ratings[0], "assert reverse([1, 2]) == [2, 1]\n")
    own_test(ratings[2], "assert reverse([1, 2]) is None\n")
    grid = adjudicating.table(found, voters_of(found, condition(study)))
    assert crossing.ask_grid(judge, grid) == 2
    while fulfil_one(SandboxProvider(open=lambda: bubblewrap), Limits(seconds=5)):
        pass

    rows = adjudicating.table(found, voters_of(found, condition(study))).rows
    assert [[cell.outcome for cell in row.cells] for row in rows] == [["passed"], ["failed"]]
