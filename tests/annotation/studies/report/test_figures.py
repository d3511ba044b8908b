"""From rows to figures: who counts, what is left out, when something is interim."""

from __future__ import annotations

import pytest
from django.utils import timezone

from annotation.models import (
    Adjudication,
    Condition,
    Enrolment,
    Rating,
    Review,
    Scoring,
    Study,
)
from annotation.review import labels
from annotation.stats.agreement.conditions import Reliability
from annotation.studies.adjudication.sealed_scores import score_sealed_versions
from annotation.studies.adjudication.verified_subset import blind_votes_of_condition
from annotation.studies.enrolment.repeat_rounds import RepeatPairFilter, ask_again
from annotation.studies.plan.row_names import format_annotator_name
from annotation.studies.report.agreement_report import report_study_agreement
from annotation.studies.report.figure_data import Until
from annotation.studies.report.figures import (
    NoFigures,
    compute_study_figures,
    confusion_pairs,
    figures_of,
    refuse_to_raters,
)
from retrieval.models import Annotator, Label
from tests import factories, studies
from tests.annotation.studies.rated import agents, many_pairs, rated_study, row, rows_of

pytestmark = pytest.mark.django_db

Kind = Condition.Kind


def test_nothing_is_computed_before_somebody_rated() -> None:
    with pytest.raises(NoFigures, match="first rating"):
        figures_of(studies.study())


def test_of_one_rater_a_pair_nothing_counts_as_true() -> None:
    study = rated_study([[1, 0, 1, 0]])
    study.conditions.update(raters=1)
    with pytest.raises(NoFigures, match="one rater"):
        figures_of(study)


def test_the_agents_stand_against_the_majority_of_the_reference() -> None:
    study = rated_study([[1, 1, 1, 0, 0, 0, 0, 0], [1, 1, 0, 0, 0, 0, 0, 0], [1, 1, 1, 0, 0, 0, 0, 1]])
    agents(study, [1, 1, 0, 0, 0, 0, 1, 0])
    found = figures_of(study)
    assert row(found, "small-model")["accuracy"].value == pytest.approx(6 / 8)
    assert row(found, "always 0")["accuracy"].value == pytest.approx(5 / 8)
    assert row(found, "small-model")["precision"].value == pytest.approx(2 / 3)


def test_what_agents_could_not_judge_is_coverage_and_never_no_match() -> None:
    study = rated_study([[1, 0, 0, 0]] * 3)
    agents(study, [1, None, 0, 0])
    found = row(figures_of(study), "small-model")
    assert found["coverage"].value == pytest.approx(3 / 4)
    assert found["accuracy"].value == 1


def test_planted_pairs_and_assisted_labels_never_count() -> None:
    study = rated_study([[1, 0, 1, 0]] * 3)
    before = figures_of(study).page
    planted = study.pairs.create(number=99, pair=studies.three_pairs()[0], planted="attention", answer=1)
    quota = planted.quotas.create(condition=studies.condition(study), wanted=3)
    studies.rated(study.enrolments.all()[0], 0, planted)
    case = factories.examined(factories.cases(factories.opened())[0], 0)
    labels.store_label(factories.erin(), case, 0, "", "a" * 64, 0)
    assert quota
    assert Review.objects.exists()
    after = figures_of(study)
    assert after.page == before
    assert (after.flow.sampled, after.flow.planted, after.flow.places.rated) == (4, 1, 12)


def test_times_are_of_sampled_pairs_and_of_raters_who_count() -> None:
    """Their blind ratings took 20, 20, 20 and 30 s; a planted pair 500 s, an excluded rater 900 s each."""
    study = rated_study([[1, 0], [1, 0], [1, 0]])
    raters = list(study.enrolments.order_by("pk"))
    Rating.objects.filter(pk=Rating.objects.filter(assignment__enrolment=raters[0])[:1]).update(seconds=30)
    Rating.objects.filter(assignment__enrolment=raters[2]).update(seconds=900)
    Enrolment.objects.filter(pk=raters[2].pk).update(excluded=True)
    for number, pair in enumerate(studies.three_pairs(), 90):
        planted = study.pairs.create(number=number, pair=pair, planted="attention", answer=1)
        planted.quotas.create(condition=studies.condition(study), wanted=3)
        studies.rated(raters[0], 1, planted, seconds=500.0)
    assert figures_of(study).seconds == {"own_tests": 20.0}
    Rating.objects.filter(assignment__enrolment=raters[1]).update(seconds=40)
    assert compute_study_figures(study).seconds == {"own_tests": 35.0}


def test_a_study_is_interim_until_every_planned_rating_is_there() -> None:
    study = rated_study([[1, 0, 1, 0]] * 2)
    agents(study, [1, 0, 0, 0], "one")
    agents(study, [1, 1, 1, 0], "two")
    quota = study.pairs.get(number=1).quotas.get()
    quota.wanted = 3
    quota.save()
    found = figures_of(study)
    assert found.interim
    assert found.page
    assert all(one.p is None for one in found.page.comparisons)
    quota.wanted = 2
    quota.save()
    assert not figures_of(study).interim


def test_a_changed_rating_counts_as_it_stands_and_a_withdrawn_one_not_at_all() -> None:
    study = rated_study([[1, 0, 1, 0]] * 3)
    first = Rating.objects.order_by("id")[0]
    Rating.objects.create(assignment=first.assignment, revision=2, value=0, evidence="", supersedes=first)
    found = figures_of(study).page
    assert found
    assert found.reliability[0].alike.value == pytest.approx((1 / 3 + 1 + 1 + 1) / 4)
    last = Rating.objects.order_by("-id")[0]
    Rating.objects.create(
        assignment=first.assignment, revision=3, withdrawn=True, evidence="", supersedes=last
    )
    again = figures_of(study).page
    assert again
    assert again.reliability[0].labels == 11


def test_a_rater_who_is_left_out_is_gone_from_figures_that_were_kept() -> None:
    study = rated_study([[1, 0, 1, 0]] * 3)
    before = figures_of(study).page
    assert before
    assert before.reliability[0].labels == 12
    Enrolment.objects.filter(pk=study.enrolments.order_by("pk")[:1]).update(excluded=True)
    after = figures_of(study).page
    assert after
    assert after.reliability[0].labels == 8


def test_decisions_settle_open_pairs_in_a_table_of_their_own() -> None:
    study = rated_study([[1, 0, 1, 0], [0, 0, 1, 0]])
    agents(study, [1, 0, 1, 0])
    assert figures_of(study).flow.undecided.split == 1
    sampled = study.pairs.get(number=1)
    Adjudication.objects.create(
        study_pair=sampled,
        condition=studies.condition(study),
        value=1,
        cause="slip",
        note="seen",
        by=factories.ada(),
    )
    found = figures_of(study)
    assert found.flow.undecided.adjudicated == 1
    assert found.page
    assert any("adjudicated" in str(way) for way in found.page.treated)


def test_only_the_last_round_of_a_pair_counts_whoever_rates_in_it() -> None:
    study = rated_study([[1, 1], [1, 1], [1, 0]], scale=Study.Scale.BINARY)
    assert reliability_of(study).labels == 6
    at = Until(timezone.now(), *last_ids(), complete=True)
    ask_again(study, RepeatPairFilter(slice="split"), "stricter now", factories.ada())
    assert reliability_of(study).labels == 3
    newcomer = studies.rater("newcomer", study)
    studies.rated(newcomer, 0, study.pairs.get(number=2))
    assert reliability_of(study).labels == 4
    assert blind_votes_of_condition(studies.condition(study))[study.pairs.get(number=2).pk] == {
        newcomer.user_id: 0
    }
    assert report_study_agreement(study).labels == 4
    before = compute_study_figures(study, at).page
    assert before and before.reliability[0].labels == 6
    Enrolment.objects.filter(pk=newcomer.pk).update(excluded=True)
    assert report_study_agreement(study).labels == 3 and Rating.objects.count() == 7


def test_figures_of_a_moment_before_two_more_rounds_are_what_they_were() -> None:
    study = rated_study([[1, 1], [1, 1], [1, 0]])
    first = Until(timezone.now(), *last_ids(), complete=True)
    ruth, sam = study.enrolments.order_by("pk")[:2]
    pair = study.pairs.get(number=2)
    ask_again(study, RepeatPairFilter(slice="split"), "stricter now", factories.ada())
    studies.rated(ruth, 0, pair)
    studies.rated(sam, 1, pair)
    second = Until(timezone.now(), *last_ids(), complete=True)
    ask_again(study, RepeatPairFilter(slice="split"), "stricter still", factories.ada())
    studies.rated(ruth, 0, pair)
    pages = [compute_study_figures(study, until).page for until in (first, second, None)]
    assert [one and one.reliability[0].labels for one in pages] == [6, 5, 4]


def last_ids() -> tuple[int, int, int, int]:
    return Rating.objects.latest("pk").pk, 0, 0, 0


def reliability_of(study: Study) -> Reliability:
    found = figures_of(study).page
    assert found
    return found.reliability[0]


def test_looking_at_figures_writes_nothing_and_shows_no_version_of_a_sealed_study_unscored() -> None:
    study = rated_study([[1, 0, 1, 0]] * 3, purpose=Study.Purpose.SEALED)
    made = agents(study, [1, 0, 1, 0], "one")
    before = figures_of(study)
    assert before.unscored == (made,) and format_annotator_name(made) not in rows_of(before)
    with pytest.raises(NoFigures, match="no such row"):
        confusion_pairs(study, format_annotator_name(made), 0)
    assert not Scoring.objects.exists()

    score_sealed_versions(study, [made], factories.ada())
    after = figures_of(study)
    assert after.unscored == () and format_annotator_name(made) in rows_of(after)
    assert [one.annotator for one in after.scorings] == [made]


def test_a_development_study_shows_every_version_and_counts_none() -> None:
    study = rated_study([[1, 0, 1, 0]] * 3)
    made = agents(study, [1, 0, 1, 0])
    found = figures_of(study)
    assert format_annotator_name(made) in rows_of(found) and not found.unscored and not found.scorings


def test_labels_that_came_with_the_data_are_no_version_to_be_scored() -> None:
    study = rated_study([[1, 0, 1, 0]] * 3, purpose=Study.Purpose.SEALED)
    made = agents(study, [1, 0, 1, 0])
    Annotator.objects.filter(pk=made.pk).update(kind=Annotator.Kind.ORIGINAL)
    assert figures_of(study).unscored == ()


def test_raters_do_not_see_figures_before_all_is_done() -> None:
    study = rated_study([[1, 0, 1, 0]] * 3)
    rater = study.enrolments.all()[0]
    with pytest.raises(NoFigures, match="You rate in this study"):
        refuse_to_raters(rater.user, study)
    refuse_to_raters(factories.ada(), study)
    rater.finished_at = rater.accepted_at
    rater.save()
    refuse_to_raters(rater.user, study)
    quota = study.pairs.get(number=1).quotas.get()
    quota.wanted = 9
    quota.save()
    with pytest.raises(NoFigures, match="every planned"):
        refuse_to_raters(rater.user, study)


def test_a_cell_of_the_confusion_matrix_leads_to_its_pairs() -> None:
    study = rated_study([[1, 0, 1, 0]] * 3)
    agents(study, [1, 1, 0, 0])
    numbers = dict(study.pairs.values_list("pk", "number"))
    name = next(one.name for one in figures_of(study).page.table if "small-model" in one.name)  # type: ignore[union-attr]
    cells = [[numbers[pk] for pk, _ in confusion_pairs(study, name, cell)] for cell in range(4)]
    assert cells == [[1], [2], [3], [4]]
    with pytest.raises(NoFigures, match="no such row"):
        confusion_pairs(study, "nobody", 0)


def test_three_steps_and_relevance_have_their_own_limit_of_a_match() -> None:
    study = rated_study([[2, 1, 0, 2]] * 3, scale=Study.Scale.STEPS)
    agents(study, [1, 0, 0, 1])
    assert row(figures_of(study), "small-model")["accuracy"].value == 1


def test_relevance_of_elsewhere_is_a_match_from_where_that_of_raters_is() -> None:
    study = rated_study([[3, 2, 1, 0]] * 3, scale=Study.Scale.GRADED)
    made = agents(study, [3, 2, 1, 0])
    Label.objects.filter(annotator=made).update(scale=Label.Scale.GRADED)
    assert row(figures_of(study), "small-model")["accuracy"].value == 1


def test_the_cost_in_queries_does_not_grow_with_the_study(django_assert_num_queries: object) -> None:
    assert callable(django_assert_num_queries)
    study = rated_study([[1, 0] * 10] * 3)
    agents(study, [1, 0] * 10)
    figures_of(study)
    with django_assert_num_queries(8):
        figures_of(study)


def test_figures_are_closed_to_who_still_rates_one_of_two_snippets_elsewhere() -> None:
    study = rated_study([[1, 0, 1, 0]] * 3)
    one, two = study.pairs.order_by("number")[:2]
    late = studies.rater("late", studies.study("another", pairs=[one.pair])).user
    with pytest.raises(NoFigures, match="You rate pairs of this study"):
        refuse_to_raters(late, study)
    study.pairs.filter(pk=one.pk).update(pair=two.pair, other=one.pair)
    with pytest.raises(NoFigures, match="You rate pairs of this study"):
        refuse_to_raters(late, study)
    apart = studies.rater("apart", studies.study("a third", pairs=many_pairs(5)[4:])).user
    refuse_to_raters(apart, study)
