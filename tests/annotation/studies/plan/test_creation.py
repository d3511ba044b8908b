"""Making a study: its rows, what is refused, and what it will take."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from annotation.accounts.roles import Role
from annotation.models import AuditEvent, Build, Rating, Seen, Study
from annotation.schemas.studies.studies import SampleWish, Stratifier
from annotation.studies.plan import creation, effort
from annotation.studies.plan.creation import (
    ConditionWish,
    Order,
    RaterWish,
    create_draft_study,
    redraw_draft_study,
)
from annotation.studies.plan.plan import StudyRefused
from annotation.studies.plan.row_names import find_plannable_rows, format_annotator_name
from annotation.studies.sampling.sample_order import SampleRefused
from annotation.web.studies.page import preview_study_order
from retrieval.models import Annotator, Label, Member, Text
from tests import factories, studies
from tests.annotation.studies.rated import many_pairs

pytestmark = pytest.mark.django_db
PLANTED = "kind,answer,query,code\nattention,1,add two,def add(a; b)\nonboarding,0,sum a list,pass\n"


@pytest.fixture
def build() -> Build:
    return factories.said(factories.opened(), (1, 0, 1, 0, 1, 0, 1, 0, 1))


def order(build: Build, raters: int = 3, **changes: Any) -> Order:
    names = ("ruth", "sam", "tess", "uma", "vic")[:raters]
    people = tuple(RaterWish(factories.person(name, Role.EXPERT), "own_tests", 10) for name in names)
    usual = Order("first study", (build,), SampleWish(size=3), (ConditionWish("own_tests"),), raters=people)
    return replace(usual, **changes)


def test_a_draft_has_its_pairs_conditions_and_raters(build: Build) -> None:
    study = create_draft_study(order(build, planted=PLANTED, hourly_rate=30), factories.ada())

    assert study.state == Study.State.DRAFT and study.created_by == factories.ada()
    assert study.pairs.filter(planted="").count() == study.planned_pairs == 3
    assert sorted(study.pairs.values_list("number", flat=True)) == [1, 2, 3, 4, 5]
    assert all(
        pair.case and pair.probability == pytest.approx(1 / 3) for pair in study.pairs.filter(planted="")
    )
    assert study.pairs.get(planted="attention").answer == 1
    assert study.enrolments.count() == 3
    assert len(set(study.enrolments.values_list("pseudonym", flat=True))) == 3
    assert len(set(study.enrolments.values_list("seed", flat=True))) == 3
    assert study.sample["population"] == 9 and study.sample["queries"] == 3
    assert AuditEvent.objects.get().verb == "study made"


def test_two_builds_with_one_pair_give_it_once(build: Build) -> None:
    again = factories.launched(
        "again", mining=build.mining, opened=True, annotator=factories.annotator(salt="2")
    )
    for case in factories.cases(build):
        factories.open_case(again, case.candidate)
    study = create_draft_study(
        order(build, builds=(build, again), wish=SampleWish(size=9, per_query=0)), factories.ada()
    )
    assert study.pairs.count() == 9 and study.builds.count() == 2


def test_a_planted_pair_is_not_drawn(build: Build) -> None:
    pair = factories.cases(build)[0].pair
    planted = f"kind,answer,pair\nattention,1,{pair.pk}\n"
    study = create_draft_study(
        order(build, planted=planted, wish=SampleWish(size=9, per_query=0)), factories.ada()
    )
    assert study.pairs.filter(planted="").count() == 8
    assert study.pairs.get(pair=pair).planted == "attention"


def test_planted_functions_with_links_may_be_shown_with_links(build: Build) -> None:
    Member.objects.update(origin="https://example.org/a.py")
    pair = factories.cases(build)[0].pair
    code = Text.objects.get(pk=factories.cases(build)[1].pair.snippet_id).text.replace('"', '""')
    planted = f'kind,answer,pair,query,code\nattention,1,{pair.pk},,\nonboarding,0,,any,"{code}"\n'
    study = create_draft_study(order(build, planted=planted, shows_origin=True), factories.ada())
    assert study.shows_origin and study.pairs.exclude(planted="").count() == 2


def test_pairs_know_the_language_of_their_function(build: Build) -> None:
    for member in Member.objects.filter(collection__kind="snippets"):
        ending = ("py", "go")[member.position % 2]
        Member.objects.filter(pk=member.pk).update(source_id=f"a/{member.pk}.{ending}::f")
    study = create_draft_study(order(build, wish=SampleWish(size=9, per_query=0)), factories.ada())
    found = {pair.pair.snippet_id: pair.language for pair in study.pairs.select_related("pair")}
    assert set(found.values()) == {"Python", "Go"}
    for member in Member.objects.filter(text__in=found):
        assert found[member.text_id] == ("Python", "Go")[member.position % 2]


def test_a_pairwise_study_has_two_snippets_a_pair(build: Build) -> None:
    source = Annotator.objects.version(Annotator.Kind.ORIGINAL, "CoSQA", {})
    for case in factories.cases(build):
        Label.objects.create(pair=case.pair, annotator=source, value=1)
    wanted = order(build, kind="pairwise", scale="preference", against=source, wish=SampleWish(size=3))
    study = create_draft_study(wanted, factories.ada())
    for pair in study.pairs.select_related("pair", "other"):
        assert pair.other and pair.other.query_id == pair.pair.query_id
        assert pair.other.snippet_id != pair.pair.snippet_id
    assert study.sample["wish"]["against"].startswith("CoSQA")


def test_a_draft_is_made_anew(build: Build) -> None:
    study = create_draft_study(order(build), factories.ada())
    redraw_draft_study(
        study,
        order(build, raters=4, name="better", wish=SampleWish(size=2, strata=(Stratifier.LABEL,))),
        factories.ada(),
    )
    assert (study.name, study.planned_pairs, study.enrolments.count()) == ("better", 2, 4)
    assert {one[0] for one in study.sample["strata"]} == {"match", "no match"}
    Study.objects.update(state=Study.State.RUNNING)
    with pytest.raises(StudyRefused, match="started"):
        redraw_draft_study(study, order(build), factories.ada())
    assert Study.objects.get().name == "better"


def test_one_rater_a_pair_is_allowed_where_it_is_the_only_condition(build: Build) -> None:
    study = create_draft_study(order(build, conditions=(ConditionWish("own_tests", 1),)), factories.ada())
    assert study.has_single_raters
    assert not create_draft_study(order(build, name="three"), factories.ada()).has_single_raters


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"name": " "}, "name"),
        ({"builds": ()}, "at least one build"),
        ({"scale": "preference"}, "scale"),
        ({"conditions": ()}, "at least one condition"),
        ({"conditions": (ConditionWish("own_tests", 2),)}, "At least 3 raters"),
        ({"conditions": (ConditionWish("own_tests", 1), ConditionWish("reading"))}, "a single condition"),
        (
            {"conditions": (ConditionWish("own_tests", 1),), "comparisons": (("agents", "always 0"),)},
            "leave the comparisons out",
        ),
        ({"reference": "reading"}, "reference"),
        ({"margin": 1.5}, "margin"),
        ({"question": "x" * 20_001}, "20,000"),
        ({"kind": "pairwise", "scale": "preference"}, "two builds"),
        ({"kind": "pairwise", "scale": "preference", "margin": 0.05}, "margin empty"),
        (
            {"kind": "pairwise", "scale": "preference", "comparisons": (("agents", "always 0"),)},
            "no main table",
        ),
        ({"conditions": (ConditionWish("reveal"),), "reference": "reveal"}, "does not have"),
        ({"shows_origin": True, "docstring": "hidden"}, "leads to its docstring"),
        ({"shows_origin": True, "planted": PLANTED}, "2 planted functions without a link"),
    ],
)
def test_what_is_refused(build: Build, changes: dict[str, Any], why: str) -> None:
    with pytest.raises(StudyRefused, match=why):
        create_draft_study(order(build, **changes), factories.ada())
    assert not Study.objects.exists()


def test_a_name_is_taken_once(build: Build) -> None:
    create_draft_study(order(build), factories.ada())
    with pytest.raises(StudyRefused, match="of that name"):
        create_draft_study(order(build), factories.ada())


def test_whoever_makes_a_study_can_not_rate_in_it(build: Build) -> None:
    wanted = order(build, raters=2)
    own = RaterWish(factories.ada(), "own_tests", 5)
    with pytest.raises(StudyRefused, match="can't rate"):
        create_draft_study(replace(wanted, raters=(*wanted.raters, own)), factories.ada())


def test_a_wrong_sample_is_refused(build: Build) -> None:
    with pytest.raises(SampleRefused):
        create_draft_study(
            order(build, wish=SampleWish(size=9, per_query=2, strata=(Stratifier.LABEL,))), factories.ada()
        )


def test_hours_and_money_of_a_study(build: Build) -> None:
    conditions = (ConditionWish("own_tests", 3, 600), ConditionWish("reading", 3, 60))
    study = create_draft_study(
        order(build, conditions=conditions, hourly_rate=20, planted=PLANTED), factories.ada()
    )
    found = effort.outlook_of(study)

    own, reading = found.shares
    assert (own.ratings, own.capacity) == (3 * 3 + 2 * 3, 9)
    assert own.hours == pytest.approx(15 * 600 / 3600)
    assert (
        reading.ratings == 9 and reading.problem == "reading: 3 raters a pair are wanted, and 0 are enrolled."
    )
    assert found.dollars == pytest.approx(20 * (15 * 600 + 9 * 60) / 3600)
    assert any("30" in one for one in found.warnings)


def test_a_sample_that_is_smaller_than_was_asked_for_says_so(build: Build) -> None:
    wanted = order(build, wish=SampleWish(size=300))
    told = "3 pairs drawn where 300 were asked for: there are 9 pairs of 3 queries to draw from"
    assert preview_study_order(wanted).warnings[0] == f"{told}, and at most 1 of a query are taken."
    assert effort.outlook_of(create_draft_study(wanted, factories.ada())).warnings[0].startswith(told)
    assert not any(
        "asked for" in one for one in preview_study_order(order(build, wish=SampleWish(size=2))).warnings
    )


def test_pairs_of_a_query_that_can_not_be_kept_apart_are_told(build: Build) -> None:
    crowded = order(build, wish=SampleWish(size=9, per_query=0))
    told = "A rater of all 9 pairs gets some pairs of one query less than 30 apart: there are queries with 3."
    assert any(one.startswith(told) for one in preview_study_order(crowded).warnings)
    assert any(
        one.startswith(told)
        for one in effort.outlook_of(create_draft_study(crowded, factories.ada())).warnings
    )
    assert not any(
        "30 apart" in one for one in preview_study_order(replace(crowded, order="by_query")).warnings
    )
    assert not any("30 apart" in one for one in preview_study_order(order(build)).warnings)


def test_too_little_capacity_is_told_with_the_numbers(build: Build) -> None:
    wanted = order(build, wish=SampleWish(size=9, per_query=0))
    raters = tuple(replace(one, capacity=5) for one in wanted.raters)
    study = create_draft_study(replace(wanted, raters=raters), factories.ada())
    (problem,) = effort.outlook_of(study).problems
    assert "9 pairs × 3 raters = 27 ratings" in problem and "can give 15" in problem


def test_who_has_seen_pairs_is_told_and_can_not_be_given_them(build: Build) -> None:
    wanted = order(build, wish=SampleWish(size=9, per_query=0))
    study = create_draft_study(wanted, factories.ada())
    for case in factories.cases(build)[:2]:
        Seen.objects.create(user=wanted.raters[0].user, pair=case.pair)
    found = effort.outlook_of(study)
    assert found.seen == (("ruth", 2),)
    assert "can give 25" in found.problems[0]

    redraw_draft_study(
        study, replace(order(build, raters=4), wish=SampleWish(size=9, per_query=0)), factories.ada()
    )
    assert not effort.outlook_of(study).problems
    for name in ("sam", "ruth"):
        Seen.objects.get_or_create(user=factories.person(name), pair=factories.cases(build)[0].pair)
    assert "1 pair has been seen by so many" in effort.outlook_of(study).problems[0]


def test_who_has_seen_the_second_snippet_has_seen_the_comparison(build: Build) -> None:
    source = Annotator.objects.version(Annotator.Kind.ORIGINAL, "CoSQA", {})
    for case in factories.cases(build):
        Label.objects.create(pair=case.pair, annotator=source, value=1)
    wanted = order(build, kind="pairwise", scale="preference", against=source)
    study = create_draft_study(wanted, factories.ada())
    other = study.pairs.get(number=1).other
    assert other
    Seen.objects.create(user=wanted.raters[0].user, pair=other)
    assert effort.outlook_of(study).seen == (("ruth", 1),)


def test_times_are_measured_once_there_are_enough() -> None:
    assert effort.usual_seconds()["own_tests"] == (300.0, 0)


def test_the_time_of_a_rating_has_its_second_look_in_it() -> None:
    """Twenty pairs took 40 s up to the first label and 100 s up to the second one."""
    study = studies.study(conditions=("second_look",), pairs=many_pairs(20))
    rater = studies.rater("ruth", study)
    for sampled in study.pairs.all():
        first = studies.rated(rater, 1, sampled, seconds=40.0)
        Rating.objects.create(
            assignment=first.assignment, phase="second_look", revision=1, value=1, seconds=100.0, evidence=""
        )
    assert effort.usual_seconds()["second_look"] == (100.0, 20)


def test_pseudonyms_are_new_and_tell_no_order(build: Build) -> None:
    study = create_draft_study(order(build), factories.ada())
    used = set(study.enrolments.values_list("pseudonym", flat=True))
    assert not used & set(creation.draw_pseudonyms(study, 40))


def test_one_more_rater_on_a_split_is_stored_and_told(build: Build) -> None:
    study = create_draft_study(order(build, one_more=True), factories.ada())
    assert study.one_more
    found = effort.outlook_of(study)
    assert "no rater is left for a pair on which 3 part" in found.warnings[-1]
    assert (found.more, found.notes) == (0, ())
    redraw_draft_study(study, order(build, raters=4), factories.ada())
    assert not study.one_more
    without = effort.outlook_of(study)
    redraw_draft_study(study, order(build, raters=4, one_more=True), factories.ada())
    found = effort.outlook_of(study)
    assert not any("no rater is left" in one for one in found.warnings)
    assert found.more == 1 and "about 1 rating more, if a rater is right in 90%" in found.notes[0]
    assert found.ratings == without.ratings and found.hours > without.hours


def test_comparisons_name_rows_that_there_will_be(build: Build) -> None:
    study = create_draft_study(order(build, comparisons=(("agents", "own_tests"),)), factories.ada())
    assert study.comparisons == [["agents", "own_tests"]]
    with pytest.raises(StudyRefused, match="no row “reading”"):
        create_draft_study(order(build, name="second", comparisons=(("agents", "reading"),)), factories.ada())
    assert not Study.objects.filter(name="second").exists()


def test_what_it_will_take_refuses_the_comparisons_that_saving_refuses(build: Build) -> None:
    """An annotator is a row where it judged the sample, or built it; the name decides nothing."""
    other = factories.annotator(salt="2")
    Label.objects.create(pair=factories.cases(build)[0].pair, annotator=other, value=1)
    every = order(
        build,
        wish=SampleWish(size=9, per_query=0),
        comparisons=((format_annotator_name(other), "own_tests"),),
    )
    assert preview_study_order(every).pairs == create_draft_study(every, factories.ada()).planned_pairs
    told = []
    for refused in (preview_study_order, lambda wanted: create_draft_study(wanted, factories.ada())):
        with pytest.raises(StudyRefused, match="no row “reading”") as why:
            refused(replace(every, name="second", comparisons=(("agents", "reading"),)))
        told.append(str(why.value))
    assert told[0] == told[1] and format_annotator_name(other) in told[0]


def test_rows_are_foreseen_of_an_order_as_of_the_stored_study(build: Build) -> None:
    wanted = order(build, wish=SampleWish(size=4, per_query=0))
    for number, case in enumerate(factories.cases(build)):
        by = factories.annotator(salt=str(number))
        Label.objects.create(pair=case.pair, annotator=by, value=1)
    study = create_draft_study(wanted, factories.ada())
    assert creation.foreseen_for(wanted, creation.draw_order_sample(wanted)[0]) == find_plannable_rows(study)
