"""The flow of pairs adds up: whatever was planned, handed out, given back or given up has its row."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from annotation.models import Adjudication, Assignment, Enrolment, Quota, Study
from annotation.studies.adjudication.undecided_pairs import Undecided
from annotation.studies.enrolment import queue, unfilled_places
from annotation.studies.enrolment.repeat_rounds import RepeatPairFilter, ask_again
from annotation.studies.report.downloads import FORMATS
from annotation.studies.report.figures import figures_of
from annotation.studies.report.methods_text import format_methods_paragraph
from annotation.studies.report.pair_flow import Flow, flow_of
from annotation.studies.report.table import Cell, Table
from annotation.studies.report.tables import build_study_tables
from tests import factories, studies
from tests.annotation.studies.rated import agents, pairwise, rated_study

pytestmark = pytest.mark.django_db
State = Assignment.State
NONE = Undecided(0, 0, 0, 0)


def adds_up(found: Flow) -> None:
    places, out = found.places, found.handed_out
    assert places.planned + places.beside == places.rated + places.open + places.free + places.given_up
    assert out.all == places.rated + places.open + out.earlier + out.skipped + out.lapsed + out.left_out
    assert all(count >= 0 for count in (places.beside, places.free, places.given_up, out.earlier))


def table_of(study: Study) -> Table:
    return next(table for table in build_study_tables(figures_of(study)) if table.key == "flow")


def rows_of(study: Study) -> dict[Cell, Cell]:
    return {row[0]: row[1] for row in table_of(study).rows}


def test_places_that_are_given_up_have_their_row() -> None:
    study = studies.study(raters=3)
    first, second = (studies.rater(name, study) for name in ("rita", "rob"))
    for number in (1, 2, 3):
        studies.rated(first, 1, study.pairs.get(number=number))
    studies.rated(second, 1, study.pairs.get(number=1))
    skipped = queue.next_assignment(second)
    assert skipped is not None
    queue.skip_assignment(skipped, skipped.token, "another language")
    queue.leave_study(second)
    assert rows_of(study)["free, nobody has the pair yet"] == 5
    assert unfilled_places.give_up(study, "nobody is left", factories.ada()) == 5

    rows = rows_of(study)
    assert [rows[name] for name in ("ratings planned", "ratings given", "skipped")] == [9, 4, 1]
    assert rows["given up, nobody could take the place"] == 5
    assert rows["free, nobody has the pair yet"] == 0
    assert rows["pairs handed out"] == 5
    adds_up(figures_of(study).flow)


def test_what_lapsed_is_free_again_and_what_was_given_before_asking_again_is_told_apart() -> None:
    study = studies.study(raters=1)
    rita = studies.rater("rita", study)
    for number in (1, 2):
        studies.rated(rita, 1, study.pairs.get(number=number))
    third = queue.next_assignment(rita)
    assert third is not None
    Assignment.objects.filter(pk=third.pk).update(reserved_until=third.created_at)
    queue.expire_reservations()
    ask_again(study, RepeatPairFilter(every=True), "the rules are stricter now", factories.ada())

    found = flow_of(study, 3, NONE)
    adds_up(found)
    assert (found.places.rated, found.places.free, found.handed_out.earlier) == (0, 3, 2)
    assert (found.handed_out.all, found.handed_out.lapsed) == (3, 1)


def test_one_more_rating_is_told_beside_those_that_were_planned() -> None:
    study = studies.study(raters=2, one_more=True)
    quota = Quota.objects.filter(study_pair__study=study).first()
    assert quota is not None
    Quota.objects.filter(pk=quota.pk).update(wanted=3)
    found = flow_of(study, 3, NONE)
    adds_up(found)
    assert (found.places.planned, found.places.beside, found.places.free) == (6, 1, 7)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(st.integers(0, 4), st.sampled_from(State.values)), min_size=3, max_size=3))
def test_it_adds_up_whatever_is_wanted_and_held(pairs: list[tuple[int, str]]) -> None:
    study = studies.study(f"drawn {Study.objects.count()}", raters=2)
    rita = studies.rater(f"rita {study.pk}", study)
    for number, (wanted, state) in enumerate(pairs, 1):
        of = study.pairs.get(number=number)
        studies.assignment(rita, of, state=state)
        Quota.objects.filter(study_pair=of).update(wanted=max(1, wanted))
    adds_up(flow_of(study, 3, NONE))


def test_every_export_has_the_rows() -> None:
    study = studies.study(raters=3)
    studies.rated(studies.rater("rita", study), 1, study.pairs.get(number=1))
    for name in ("csv", "json", "tex", "svg"):
        made, _ = FORMATS[name]
        assert "given up, nobody could take the place" in made(table_of(study))


def half_rated() -> Study:
    """Three raters a pair: agreed; split; one of three given; only skipped; nobody was asked."""
    study = rated_study([[1] * 5, [1] * 5, [1] * 5])
    second, third, *rest = (study.pairs.get(number=number).pk for number in (2, 3, 4, 5))
    at = {one.pseudonym: one for one in study.enrolments.all()}
    given = Assignment.objects.filter(enrolment__study=study)
    for gone in (
        given.filter(study_pair=third).exclude(enrolment=at["R01"]),
        given.filter(study_pair__in=rest),
    ):
        gone.update(state=State.LAPSED)
        for one in gone:
            one.ratings.all().delete()
    given.filter(study_pair=rest[0], enrolment=at["R01"]).update(state=State.SKIPPED)
    unsure = given.get(study_pair=second, enrolment=at["R02"]).ratings
    unsure.update(value=None)
    given.get(study_pair=second, enrolment=at["R03"]).ratings.update(value=0)
    return study


def test_a_pair_that_nobody_rated_is_no_split() -> None:
    study = half_rated()
    agents(study, [1] * 5)
    assert figures_of(study).flow.undecided == Undecided(split=1, short=1, unrated=2, adjudicated=0)
    rows = rows_of(study)
    assert rows["pairs without a strict majority in the reference"] == 4
    assert [rows[name] for name in rows if str(name).startswith(("split", "short", "not rated"))] == [1, 1, 2]
    for name in ("csv", "json", "tex", "svg"):
        assert "not rated: no rating that counts" in FORMATS[name][0](table_of(study))
    assert (
        "Raters of 1 pair split with all planned ratings given, 1 had fewer ratings and no majority, "
        "2 had no rating that counts; 0 of these were adjudicated."
    ) in format_methods_paragraph(figures_of(study))


def test_only_what_somebody_was_asked_about_is_a_tie() -> None:
    """Of five pairs one is agreed, three were asked about (split, too few, skipped), one nobody knows."""
    study = half_rated()
    agents(study, [1] * 5)
    page = figures_of(study).page
    assert page
    rows = {
        str(way): next(one for one in table if "small" in one.name) for way, table in page.treated.items()
    }
    assert (rows["ties are 0"].n, rows["ties are 0"].accuracy.value) == (4, 1 / 4)
    assert (rows["ties are 1"].n, rows["ties are 1"].accuracy.value) == (4, 1)


def test_only_decisions_on_pairs_without_a_majority_are_told_and_excluded_raters_do_not_count() -> None:
    study = half_rated()
    for number in (1, 2):
        Adjudication.objects.create(
            study_pair=study.pairs.get(number=number), condition=studies.condition(study), value=1,
            cause="slip", note="seen", by=factories.ada(),
        )  # fmt: skip
    assert figures_of(study).flow.undecided == Undecided(split=1, short=1, unrated=2, adjudicated=1)
    Enrolment.objects.filter(study=study, pseudonym="R01").update(excluded=True)
    assert figures_of(study).flow.undecided == Undecided(split=0, short=1, unrated=3, adjudicated=1)


def test_choices_between_snippets_split_as_well() -> None:
    study = pairwise()
    assert figures_of(study).flow.undecided.all == 0
    studies.condition(study, "reading").quotas.update(wanted=2)
    study.conditions.update(raters=2)
    second = studies.rater("second", study, "reading")
    studies.rated(second, -1, study.pairs.get(number=1))
    assert figures_of(study).flow.undecided == Undecided(split=1, short=7, unrated=0, adjudicated=0)
