"""Who is excluded gives up the places; what was said stays, and counts again where nobody took them."""

from __future__ import annotations

import pytest

from annotation.models import Amendment, Assignment, AuditEvent, Condition, Enrolment, Quota, Rating, Study
from annotation.studies.adjudication import decisions, unsettled_pairs, verified_subset
from annotation.studies.adjudication.undecided_pairs import Undecided
from annotation.studies.enrolment import exclusion, places, queue, repeat_rounds, unfilled_places
from annotation.studies.enrolment import raters as enrolling
from annotation.studies.enrolment.places import CameTooLate, State
from annotation.studies.enrolment.queue import BadSkip, QueueClosed, next_assignment
from annotation.studies.enrolment.repeat_rounds import RepeatPairFilter
from annotation.studies.plan import plan
from annotation.studies.plan.plan import StudyRefused
from annotation.studies.rating import earlier_revisions, ratings, runs, undo
from annotation.studies.rating.earlier_revisions import NothingToRestore
from annotation.studies.rating.undo import NothingToTakeBack
from annotation.studies.report import rating_export
from annotation.studies.report.agreement_report import report_study_agreement
from annotation.studies.report.figure_data import is_complete
from annotation.studies.report.figures import compute_study_figures
from annotation.studies.report.pair_flow import flow_of
from tests import factories, studies
from tests.annotation.studies.enrolment.test_queue_machine import said
from tests.annotation.studies.rated import many_pairs
from tests.annotation.studies.report.test_pair_flow import adds_up

NONE = Undecided(0, 0, 0, 0)
pytestmark = pytest.mark.django_db


@pytest.fixture
def study() -> Study:
    """Three pairs that three of the four raters have rated: 1 1 0 each; the fourth came too late."""
    study = studies.study()
    raters = [studies.rater(name, study) for name in ("ruth", "sam", "tess", "uma")]
    for sampled in study.pairs.all():
        for rater, value in zip(raters, (1, 1, 0), strict=False):
            studies.rated(rater, value, sampled)
    plan.freeze_plan(study)
    return study


def frozen_anew(study: Study, **columns: object) -> None:
    Study.objects.update(plan=None, frozen_at=None, **columns)
    study.refresh_from_db()
    plan.freeze_plan(study)


def rater(study: Study, name: str) -> Enrolment:
    related = "study__guideline", "condition", "user"
    return study.enrolments.select_related(*related).get(user__username=name)


def exclude(study: Study, name: str = "ruth") -> int:
    return enrolling.remove_rater(rater(study, name), "clicked through", factories.ada(), exclude=True)


def include(study: Study, name: str = "ruth") -> exclusion.BroughtBack:
    return enrolling.include_excluded_rater(rater(study, name), "it was a mistake", factories.ada())


def counts(study: Study) -> set[tuple[int, int, int]]:
    rows = Quota.objects.filter(study_pair__study=study, study_pair__planted="")
    return set(rows.values_list("wanted", "reserved", "done"))


def labels(study: Study) -> int:
    found = compute_study_figures(study).page
    assert found
    adds_up(flow_of(study, 3, NONE))
    assert report_study_agreement(study).labels == found.reliability[0].labels
    return found.reliability[0].labels


def take(enrolment: Enrolment, value: int) -> Rating:
    held = next_assignment(enrolment)
    assert held is not None
    return ratings.submit_rating(held, held.token, said(value), 0)


def test_the_places_are_free_and_another_rater_takes_them(study: Study) -> None:
    assert is_complete(study)
    Enrolment.objects.filter(user__username="uma").update(finished_at=study.created_at)
    before = Rating.objects.count()
    assert exclude(study) == 3
    assert counts(study) == {(3, 2, 2)} and not is_complete(study)
    assert Rating.objects.count() == before and labels(study) == 6
    assert {one.votes for one in decisions.load_split_pairs(study)} == set(), "the pairs wait for a rating"
    assert flow_of(study, 3, NONE).handed_out.left_out == 3

    uma = rater(study, "uma")
    assert uma.finished_at is None, "there is something for her again"
    for _ in range(3):
        take(uma, 1)
    assert counts(study) == {(3, 3, 3)} and is_complete(study) and labels(study) == 9
    assert [one.value for one in verified_subset.verdicts_of_study(study)] == [1, 1, 1]
    states = [row["state"] for row in rating_export.export_rating_revisions(study)]
    assert (states.count("left_out"), states.count("done")) == (3, 9)


def test_what_was_said_counts_again_where_nobody_took_the_place(study: Study) -> None:
    exclude(study)
    first = take(rater(study, "uma"), 0).assignment.study_pair
    assert include(study) == exclusion.BroughtBack(counted=2, taken=1)
    assert counts(study) == {(3, 3, 3)} and is_complete(study) and labels(study) == 9
    voters = {row.assignment.enrolment.user.username for row in unsettled_pairs.blind_ratings(study).filter(
        assignment__study_pair=first
    )}  # fmt: skip
    assert voters == {"sam", "tess", "uma"}
    assert verified_subset.blind_votes_of_condition(studies.condition(study))[first.pk].keys() == {
        rater(study, name).user_id for name in voters
    }
    ruth = rater(study, "ruth")
    assert not ruth.excluded and ruth.removed and ruth.left_at
    with pytest.raises(QueueClosed, match="ended your part"):
        next_assignment(ruth)
    why = [one.reason for one in Amendment.objects.order_by("number")]
    assert why == ["clicked through", "it was a mistake"]
    told = AuditEvent.objects.get(verb="rater included again").detail
    assert (told["counted"], told["taken"]) == (2, 1)
    assert AuditEvent.objects.get(verb="rater removed").detail["places"] == 3


def test_places_that_were_given_up_count_again_with_their_rater(study: Study) -> None:
    exclude(study, "uma")
    exclude(study)
    assert unfilled_places.give_up(study, "nobody is left", factories.ada()) == 3
    assert counts(study) == {(2, 2, 2)}
    assert include(study).counted == 3
    assert counts(study) == {(3, 3, 3)} and labels(study) == 9 and unfilled_places.given_up(study) == 0


def test_a_pair_that_is_asked_again_meanwhile_stays_left_out(study: Study) -> None:
    exclude(study)
    repeat_rounds.ask_again(study, RepeatPairFilter(every=True), "stricter now", factories.ada())
    assert include(study) == exclusion.BroughtBack(counted=0, taken=3)
    assert counts(study) == {(3, 0, 0)}
    adds_up(flow_of(study, 3, NONE))


def test_of_an_earlier_round_there_is_no_place_to_give_up(study: Study) -> None:
    repeat_rounds.ask_again(study, RepeatPairFilter(every=True), "stricter now", factories.ada())
    assert exclude(study) == 0
    assert counts(study) == {(3, 0, 0)} and not Assignment.objects.filter(state=State.LEFT_OUT).exists()
    assert include(study).counted == 0


def test_one_more_rating_is_wanted_only_where_the_others_split(study: Study) -> None:
    frozen_anew(study, one_more=True)
    uma = rater(study, "uma")
    first, second = study.pairs.filter(number__lte=2).order_by("number")
    Rating.objects.filter(assignment__study_pair=first, assignment__rater__username="ruth").update(value=None)
    Rating.objects.filter(assignment__study_pair=second, assignment__rater__username="sam").update(value=None)
    Quota.objects.filter(study_pair__in=[first, second]).update(wanted=4)
    studies.rated(uma, 1, first)
    studies.rated(uma, 1, second)
    studies.rater("vera", study)
    exclude(study)
    wanted = dict(Quota.objects.values_list("study_pair__number", "wanted"))
    assert wanted == {1: 3, 2: 4, 3: 3}, "1 0 1 has a majority; unsure 0 1 has none"


def test_what_is_open_is_given_back_at_once(study: Study) -> None:
    repeat_rounds.ask_again(study, RepeatPairFilter(every=True), "stricter now", factories.ada())
    ruth = rater(study, "ruth")
    held = next_assignment(ruth)
    assert held is not None
    exclude(study)
    held.refresh_from_db()
    assert held.state == State.LAPSED and counts(study) == {(3, 0, 0)}
    with pytest.raises(QueueClosed, match="ended your part"):
        ratings.submit_rating(held, held.token, said(1), 0)
    assert held.drafts.exists()


def test_a_locked_pair_is_given_back(study: Study) -> None:
    other = studies.study("another", conditions=(Condition.Kind.REVEAL,))
    wes = studies.rater("wes", other)
    held = next_assignment(wes)
    assert held is not None
    ratings.submit_rating(held, held.token, said(1), 0)
    exclude(other, "wes")
    held.refresh_from_db()
    assert held.state == State.LAPSED and counts(other) == {(3, 0, 0)}


def test_nothing_that_is_left_out_can_be_changed(study: Study) -> None:
    ruth = rater(study, "ruth")
    done = ruth.assignments.order_by("pk")[0]
    second = Rating.objects.create(
        assignment=done, revision=2, value=0, evidence="", supersedes=done.ratings.get()
    )
    exclude(study)
    for again in (False, True):
        ruth, now = rater(study, "ruth"), queue.open_assignment(ruth.user, study.pk, 1)
        if again:
            take(rater(study, "uma"), 1)
            take(rater(study, "uma"), 1)
            take(rater(study, "uma"), 1)
            assert include(study).counted == 0
            ruth, now = rater(study, "ruth"), queue.open_assignment(ruth.user, study.pk, 1)
        with pytest.raises(QueueClosed):
            ratings.submit_rating(now, now.token, said(1), second.revision)
        with pytest.raises(BadSkip):
            queue.skip_assignment(now, now.token, "can't say")
        with pytest.raises(NothingToTakeBack):
            undo.undo_decision(ruth)
        with pytest.raises(NothingToRestore, match="ended your part"):
            earlier_revisions.restore_earlier_revision(done.ratings.get(revision=1))
        assert "ended your part" in runs.describe_run_refusal(now)
    assert Rating.objects.filter(assignment=done).count() == 2 and labels(study) == 9


def test_a_window_that_was_faster_comes_too_late(study: Study) -> None:
    """What a rater has under way when the places go holds states and tokens that are not true any more."""
    ruth = rater(study, "ruth")
    done = ruth.assignments.select_related("study_pair").order_by("pk")[0]
    repeat_rounds.ask_again(study, RepeatPairFilter(every=True), "stricter now", factories.ada())
    held = next_assignment(ruth)
    assert held is not None
    queue.leave_study(ruth)
    held = Assignment.objects.select_related("study_pair").get(pk=held.pk)
    assert held.state == State.LAPSED
    exclude(study)
    with pytest.raises(CameTooLate):
        places.change_assignment_state(held, State.DONE)
    assert done.state == State.DONE


def test_who_has_left_is_excluded_afterwards(study: Study) -> None:
    pair = many_pairs(1)[0]
    planted = study.pairs.create(number=9, pair=pair, planted="attention", answer=1)
    Quota.objects.create(study_pair=planted, condition=studies.condition(study), wanted=4)
    frozen_anew(study)
    assert enrolling.remove_rater(rater(study, "ruth"), "gone", factories.ada()) == 0
    left = rater(study, "ruth").left_at
    assert labels(study) == 9
    assert exclude(study) == 3
    assert rater(study, "ruth").left_at == left
    assert Quota.objects.get(study_pair=planted).wanted == 3, "one rater fewer, once"


def test_who_is_not_excluded_is_not_included(study: Study) -> None:
    with pytest.raises(StudyRefused, match="not excluded"):
        include(study)
    exclude(study)
    with pytest.raises(StudyRefused, match="Say why"):
        enrolling.include_excluded_rater(rater(study, "ruth"), " ", factories.ada())
    assert rater(study, "ruth").excluded and counts(study) == {(3, 2, 2)}


def test_all_or_nothing(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    """Excluded with the places kept, or places free of a rater who counts: neither is ever stored."""

    def fail(*args: object) -> None:
        raise RuntimeError("the machine stops here")

    monkeypatch.setattr(queue, "reopen_finished_raters", fail)
    with pytest.raises(RuntimeError):
        exclude(study)
    assert not rater(study, "ruth").excluded and counts(study) == {(3, 3, 3)} and labels(study) == 9


def test_a_rater_counts_again_where_one_more_was_asked_and_nobody_took_the_place(study: Study) -> None:
    frozen_anew(study, one_more=True)
    first = study.pairs.get(number=1)
    Rating.objects.filter(assignment__study_pair=first, assignment__rater__username="sam").update(value=None)
    Quota.objects.filter(study_pair=first).update(wanted=4)
    studies.rated(rater(study, "uma"), 1, first)
    before = counts(study)
    for name in ("uma", "ruth"):
        exclude(study, name)
        assert include(study, name).taken == 0, name
        assert counts(study) == before
