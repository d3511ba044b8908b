"""Another round after a change of meaning: which pairs, and what stays."""

from __future__ import annotations

import pytest

from annotation.models import Amendment, Assignment, AuditEvent, Enrolment, Quota, Rating, Seen, Study
from annotation.studies.enrolment import queue, raters, unfilled_places
from annotation.studies.enrolment.repeat_rounds import (
    RepeatPairFilter,
    Takers,
    ask_again,
    find_pairs_to_repeat,
    find_repeat_takers,
)
from annotation.studies.plan import guidelines, plan
from annotation.studies.plan.form_checks import BadRating, RaterStatement
from annotation.studies.plan.plan import StudyRefused
from annotation.studies.rating import drafts, ratings
from annotation.studies.report import figure_data
from retrieval.models import Pair, Text
from tests import factories, studies

pytestmark = pytest.mark.django_db


@pytest.fixture
def study() -> Study:
    """Two rated pairs, on the first of which raters part; the third pair is not rated."""
    study = studies.study()
    ruth, sam = studies.rater("ruth", study), studies.rater("sam", study)
    studies.rated(ruth, 1, study.pairs.get(number=1), tags=["inverse"], notes="Sorted the wrong way")
    studies.rated(sam, 0, study.pairs.get(number=1))
    studies.rated(ruth, 1, study.pairs.get(number=2))
    return study


@pytest.mark.parametrize(
    ("choice", "numbers"),
    [
        (RepeatPairFilter(), []),
        (RepeatPairFilter(every=True), [1, 2]),
        (RepeatPairFilter(tag="inverse"), [1]),
        (RepeatPairFilter(tag="partial"), []),
        (RepeatPairFilter(text="wrong WAY"), [1]),
        (RepeatPairFilter(text="iso date"), [2]),
        (RepeatPairFilter(slice="split"), [1]),
        (RepeatPairFilter(tag="inverse", text="iso date"), []),
    ],
)
def test_pairs_are_chosen(study: Study, choice: RepeatPairFilter, numbers: list[int]) -> None:
    assert list(find_pairs_to_repeat(study, choice).values_list("number", flat=True)) == numbers


def test_a_pair_that_was_asked_again_uses_the_capacity_once(study: Study) -> None:
    ruth = study.enrolments.get(user__username="ruth")
    ask_again(study, RepeatPairFilter(every=True), "stricter now", factories.ada())
    for number in (1, 2):
        studies.rated(ruth, 0, study.pairs.get(number=number))
    assert ruth.assignments.count() == 4
    with pytest.raises(StudyRefused, match="2 pairs were given"):
        raters.change_capacity(ruth, 1, "less time", factories.ada())
    raters.change_capacity(ruth, 3, "less time", factories.ada())
    assert ruth.capacity == 3
    raters.remove_rater(ruth, "she is gone", factories.ada())
    ruth.refresh_from_db()
    assert ruth.capacity == 2


def test_words_are_found_beyond_what_lists_show_and_in_any_case() -> None:
    long = "def f(a):\n" + "    a += 1\n" * 60
    texts = [
        ("sort a list " + "of numbers " * 40 + "by GRÖSSE", "def g(): return 1"),
        ("turn a list round", long + "    return urllib.Quote(a)"),
        ("another one", long),
    ]
    pairs = [
        Pair.objects.create(query=Text.objects.keep(query), snippet=Text.objects.keep(code))
        for query, code in texts
    ]
    study = studies.study(pairs=pairs)
    ruth = studies.rater("ruth", study)
    for number in (1, 2, 3):
        studies.rated(ruth, 1, study.pairs.get(number=number), notes="ÜBER all" if number == 3 else "")

    def found(text: str) -> list[int]:
        return [pair.number for pair in find_pairs_to_repeat(study, RepeatPairFilter(text=text))]

    assert [found(text) for text in ("größe", "urllib.quote", "über", "a += 1", "nowhere")] == [
        [1],
        [2],
        [3],
        [2, 3],
        [],
    ]
    assert all(len(one.query.head) <= 240 and "GRÖSSE" not in one.query.head for one in pairs)


def test_both_snippets_of_a_comparison_are_searched() -> None:
    one, two, three = studies.three_pairs()
    study = studies.study(pairs=[one])
    study.pairs.update(other=two)
    studies.rated(studies.rater("ruth", study), 1, study.pairs.get())
    word = two.snippet.text.split("(")[0]
    assert (
        word not in one.snippet.text and find_pairs_to_repeat(study, RepeatPairFilter(text=word)).count() == 1
    )
    assert not find_pairs_to_repeat(study, RepeatPairFilter(text=three.snippet.text)).exists()


def test_strata_are_slices(study: Study) -> None:
    study.pairs.filter(number=2).update(stratum="match")
    assert [pair.number for pair in find_pairs_to_repeat(study, RepeatPairFilter(slice="match"))] == [2]


def test_another_round_keeps_what_was_said(study: Study) -> None:
    still = studies.assignment(studies.rater("tess", study), study.pairs.get(number=1))
    assert ask_again(study, RepeatPairFilter(slice="split"), "stricter now", factories.ada()) == 1
    quota = Quota.objects.get(study_pair__number=1)
    assert (quota.round, quota.wanted, quota.reserved, quota.done) == (2, 3, 0, 0)
    assert Quota.objects.get(study_pair__number=2).round == 1
    assert Rating.objects.current().count() == 3
    still.refresh_from_db()
    assert still.state == Assignment.State.LAPSED
    assert AuditEvent.objects.get(verb="pairs asked again").detail["pairs"] == 1


@pytest.mark.parametrize(
    "choice",
    [RepeatPairFilter(slice="split"), RepeatPairFilter(tag="inverse"), RepeatPairFilter(text="wrong way")],
)
def test_what_was_said_before_a_round_asks_for_no_other_one(study: Study, choice: RepeatPairFilter) -> None:
    ask_again(study, choice, "stricter now", factories.ada())
    with pytest.raises(StudyRefused, match="No rated pair"):
        ask_again(study, choice, "sent twice", factories.ada())
    for one in study.enrolments.all():
        studies.rated(one, 1, study.pairs.get(number=1))
    assert not find_pairs_to_repeat(study, choice).exists(), "now they agree, and say nothing else"
    assert [pair.number for pair in find_pairs_to_repeat(study, RepeatPairFilter(every=True))] == [1, 2]


def test_what_is_refused(study: Study) -> None:
    with pytest.raises(StudyRefused, match="No rated pair"):
        ask_again(study, RepeatPairFilter(tag="none"), "why", factories.ada())
    with pytest.raises(StudyRefused, match="Say why"):
        ask_again(study, RepeatPairFilter(every=True), " ", factories.ada())
    Study.objects.update(state=Study.State.CLOSED)
    study.refresh_from_db()
    with pytest.raises(StudyRefused, match="runs"):
        ask_again(study, RepeatPairFilter(every=True), "why", factories.ada())


def test_a_study_follows_another_version_as_an_amendment(study: Study) -> None:
    plan.freeze_plan(study)
    guidelines.acknowledge_guideline(study, factories.person("ruth"))
    second = studies.guideline(version=2, change="meaning", text="Stricter.")
    with plan.change_with_amendment(study, "the old rules were vague", factories.ada()) as row:
        row.guideline = second
        row.save(update_fields=["guideline"])
    assert study.guideline == second
    assert not guidelines.has_acknowledged_guideline(study, factories.person("ruth"))
    assert Amendment.objects.get().after["guidelines"]["version"] == 2


@pytest.fixture
def revealed() -> Study:
    """A study of *reveal* with two ratings a pair, all given by raters who have seen what agents said."""
    study = studies.study("second", conditions=("reveal",), raters=2)
    for name in ("ruth", "sam"):
        rater = studies.rater(name, study, capacity=3)
        for sampled in study.pairs.order_by("number"):
            studies.rated(rater, 1, sampled)
            Seen.objects.create(user=rater.user, pair=sampled.pair)
    return study


def test_raters_that_have_seen_nothing_can_take_their_pairs_again(study: Study) -> None:
    assert find_repeat_takers(study, RepeatPairFilter(every=True)) == [Takers("own tests", 3, 2, 2, 2)]


def test_who_could_take_a_round_is_told_before(revealed: Study) -> None:
    every = RepeatPairFilter(every=True)
    assert find_repeat_takers(revealed, every) == [Takers("reveal", 2, 0, 0, 3)]
    studies.rater("new", revealed)
    assert find_repeat_takers(revealed, every) == [Takers("reveal", 2, 1, 1, 3)]


def test_raters_that_have_seen_the_evidence_are_not_asked_again_and_new_ones_are(revealed: Study) -> None:
    new = studies.rater("new", revealed)
    ask_again(revealed, RepeatPairFilter(every=True), "stricter now", factories.ada())
    for rater in revealed.enrolments.exclude(pk=new.pk):
        assert queue.next_assignment(rater) is None
    given = queue.next_assignment(new)
    assert given is not None and given.round == 2


def test_places_that_nobody_can_take_are_given_up_with_a_reason(revealed: Study) -> None:
    assert unfilled_places.find_unfillable_quotas(revealed) == [] and figure_data.is_complete(revealed)
    ask_again(revealed, RepeatPairFilter(every=True), "stricter now", factories.ada())
    new = studies.rater("new", revealed)
    studies.rated(new, 1, revealed.pairs.get(number=1))
    assert [one.quota.study_pair.number for one in unfilled_places.find_unfillable_quotas(revealed)] == [
        1,
        2,
        3,
    ]
    with pytest.raises(StudyRefused, match="Say why"):
        unfilled_places.give_up(revealed, " ", factories.ada())

    assert unfilled_places.give_up(revealed, "raters have seen the tests", factories.ada()) == 3
    wanted = dict(Quota.objects.order_by("study_pair__number").values_list("study_pair__number", "wanted"))
    assert wanted == {1: 1, 2: 1, 3: 1} and unfilled_places.given_up(revealed) == 3
    for number in (2, 3):
        studies.rated(new, 1, revealed.pairs.get(number=number))
    assert figure_data.is_complete(revealed)
    event = AuditEvent.objects.get(verb="missing ratings given up")
    assert event.detail == {"ratings": 3, "pairs": 3, "why": "raters have seen the tests"}
    with pytest.raises(StudyRefused, match="nothing has to be given up"):
        unfilled_places.give_up(revealed, "again", factories.ada())


def test_a_place_that_somebody_holds_or_can_take_is_waited_for(study: Study) -> None:
    studies.assignment(studies.rater("tess", study), study.pairs.get(number=1))
    held = [one.quota.study_pair.number for one in unfilled_places.find_unfillable_quotas(study)]
    assert held == []


def test_what_was_said_before_is_out_of_the_sight_of_who_is_asked_again(study: Study) -> None:
    ruth = study.enrolments.get(user__username="ruth")
    assert len(ratings.find_recent_ratings(ruth)) == 2
    ask_again(study, RepeatPairFilter(tag="inverse"), "meaning", factories.ada())
    assert [row.assignment.study_pair.number for row in ratings.find_recent_ratings(ruth)] == [2]


def test_what_was_begun_before_a_pair_was_asked_again_is_there_when_it_comes() -> None:
    study = studies.study(pairs=studies.three_pairs()[:1])
    rita, sam = studies.rater("rita", study), studies.rater("sam", study)
    held = queue.next_assignment(rita)
    assert held is not None
    typed = {"notes": "half a thought", "test": "assert turned", "choice": "1 partial", "call": "turned()"}
    for field, text in typed.items():
        drafts.save_draft(held, field, text)
    studies.rated(sam, 1, held.study_pair)
    ask_again(study, RepeatPairFilter(every=True), "the meaning has changed", factories.ada())
    said = RaterStatement(1, "", "half a thought", ("partial",), 0, (), (), "a" * 64)
    with pytest.raises(queue.Lapsed, match="This pair is asked again"):
        ratings.submit_rating(held, held.token, said, 0)
    anew = queue.next_assignment(rita)
    assert anew is not None and (anew.round, anew != held) == (2, True)
    assert drafts.load_draft_texts(anew) == {"notes": "half a thought", "test": "assert turned"}
    assert drafts.load_draft_texts(held) == typed


def only_pair() -> tuple[Enrolment, Assignment]:
    """A rater who has rated the only pair of a study, with the page of it still open."""
    rita = studies.rater("rita", studies.study(pairs=studies.three_pairs()[:1]))
    held = queue.next_assignment(rita)
    assert held is not None
    ratings.submit_rating(held, held.token, said(1), 0)
    return rita, held


def said(value: int, notes: str = "") -> RaterStatement:
    return RaterStatement(value, "", notes, ("partial",), 0, (), (), "a" * 64)


@pytest.mark.parametrize(("value", "notes"), [(0, "after all not"), (1, "")])
def test_a_late_change_of_what_was_said_before_is_told_and_is_there_when_the_pair_comes(
    value: int, notes: str
) -> None:
    """Also where it says the same again: it is not told as stored, as it counts nowhere."""
    rita, held = only_pair()
    drafts.save_draft(held, "test", "assert turned")
    ask_again(rita.study, RepeatPairFilter(every=True), "the meaning has changed", factories.ada())
    with pytest.raises(queue.Lapsed, match="This pair is asked again"):
        ratings.submit_rating(held, held.token, said(value, notes), 1)
    assert Rating.objects.count() == 1
    anew = queue.next_assignment(rita)
    assert anew is not None and anew.round == 2
    assert drafts.load_draft_texts(anew) == ({"notes": notes} if notes else {}), (
        "the choice is made anew, and the test"
    )


def test_a_page_of_a_round_that_is_over_rates_nothing_in_the_new_one() -> None:
    rita, held = only_pair()
    ask_again(rita.study, RepeatPairFilter(every=True), "the meaning has changed", factories.ada())
    anew = queue.next_assignment(rita)
    assert anew is not None
    for seen in (0, 1):
        with pytest.raises(BadRating, match="Your answer is in the form"):
            ratings.submit_rating(anew, held.token, said(0, "after all not"), seen)
    assert Rating.objects.count() == 1
    assert drafts.load_draft_texts(anew) == {"notes": "after all not", "choice": "0 partial"}
    ratings.submit_rating(anew, anew.token, said(0, "after all not"), 0)
    with pytest.raises(ratings.RatedMeanwhile):
        ratings.submit_rating(anew, held.token, said(1), 2)
