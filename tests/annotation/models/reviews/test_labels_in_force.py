"""The label in force of each case, and its counts, are as a recount says, whoever wrote last and how."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from annotation import review
from annotation.accounts.roles import Role
from annotation.builds.control.review_rule import change_review_rule
from annotation.builds.control.spending_caps import CapRefused
from annotation.builds.results.publication import said_of
from annotation.jobs import worker
from annotation.models import Build, Case, Tally
from annotation.models.reviews.labels_in_force import recount_labels_in_force, track_people
from annotation.stages import Stage
from bench.seed.check import recount_build_totals, wrongly_in_force
from retrieval.models import Annotator, Label
from tests import factories
from tests.annotation.models.reviews.test_contradictions import do, meanwhile, say, undone

pytestmark = pytest.mark.django_db


@pytest.fixture
def erin() -> User:
    return factories.erin()


@pytest.fixture
def eve() -> User:
    return factories.person("eve", Role.EXPERT)


@pytest.fixture
def case() -> Case:
    """A case that the agents settled as a match."""
    return factories.settled(factories.cases(factories.opened())[0], 1)


def kept(case: Case) -> int | None:
    """The case's label in force, where it and all totals are right."""
    assert not wrongly_in_force().exists()
    for build in Build.objects.all():
        assert_totals(build)
    return Case.objects.get(pk=case.pk).label_in_force


def assert_totals(build: Build) -> None:
    tally, found = Tally.objects.get(pk=build.pk), recount_build_totals(build)
    for name in ("matches", "matches_in_force", "no_matches_in_force"):
        assert getattr(tally, name) == found[name], name


def publish_study(case: Case, value: int) -> None:
    annotator = Annotator.objects.version(Annotator.Kind.MERGE, "verified by a study", {"study": "one"})
    with track_people([case.pair_id]):
        Label.objects.create(pair_id=case.pair_id, annotator=annotator, value=value, source="study 1")


def test_one_expert_changes_no_label_and_a_second_who_agrees_does(erin: User, eve: User, case: Case) -> None:
    say(erin, case, 0)
    assert kept(case) == 1
    say(eve, case, 0)
    assert kept(case) == 0
    tally = Tally.objects.get(pk=case.build_id)
    assert (tally.matches, tally.matches_in_force, tally.no_matches_in_force) == (1, 0, 1)
    review.undo_latest_label(eve, case, 1)
    assert kept(case) == 1


def test_experts_who_differ_leave_the_agents_label(erin: User, eve: User, case: Case) -> None:
    say(erin, case, 0)
    say(eve, case, 1)
    assert kept(case) == 1


def test_one_expert_is_enough_where_labels_count_at_once(erin: User, case: Case) -> None:
    Build.objects.update(reviews_needed=1)
    say(erin, case, 0)
    assert kept(case) == 0
    say(erin, case, None)
    assert kept(case) == 1


def test_another_rule_is_worked_out_for_the_whole_build(erin: User, case: Case) -> None:
    others = factories.cases(case.build)[1:3]
    for other in others:
        factories.settled(other, 1)
        say(erin, other, 0)
    say(erin, case, 1)
    build, before = case.build, Tally.objects.get(pk=case.build_id).version
    assert change_review_rule(build, 1, erin, "we trust her") == 2
    assert [kept(each) for each in (case, *others)] == [1, 0, 0]
    assert change_review_rule(build, 1, erin, "again") == 0
    assert change_review_rule(build, 2, erin, "two eyes are better than one") == 2
    assert [kept(each) for each in (case, *others)] == [1, 1, 1]
    assert Tally.objects.get(pk=build.pk).version > before
    notes = build.events.filter(event="review rule changed").values_list("note", flat=True)
    assert list(notes) == [
        "an expert's label counts when two agree; 2 labels changed: two eyes are better than one",
        "an expert's label counts at once; 2 labels changed: we trust her",
    ]


def test_another_rule_needs_a_reason(erin: User, case: Case) -> None:
    with pytest.raises(CapRefused):
        change_review_rule(case.build, 1, erin, " ")
    assert Build.objects.get(pk=case.build_id).reviews_needed == 2


def test_a_verdict_that_comes_after_the_experts_does_not_count(erin: User, eve: User) -> None:
    case = factories.cases(factories.opened())[0]
    say(erin, case, 0)
    assert kept(case) is None
    say(eve, case, 0)
    assert kept(case) == 0
    assert kept(factories.settled(case, 1)) == 0


def test_experts_give_an_abandoned_case_its_label(erin: User, eve: User) -> None:
    case = factories.abandoned(factories.cases(factories.opened())[0])
    for person in (erin, eve):
        say(person, case, 1)
    assert kept(case) == 1 and Case.objects.get(pk=case.pk).label is None


def test_a_published_study_outvotes_experts_and_agents(erin: User, eve: User, case: Case) -> None:
    for person in (erin, eve):
        say(person, case, 1)
    publish_study(case, 0)
    assert kept(case) == 0


def test_cases_that_are_made_later_know_what_people_said(erin: User, eve: User, case: Case) -> None:
    for person in (erin, eve):
        say(person, case, 0)
    again = factories.open_case(case.build, case.candidate, 2)
    assert again.label_in_force is None
    recount_labels_in_force()
    assert (kept(again), kept(case)) == (0, 0)


def test_a_build_that_opens_later_begins_with_what_people_said(erin: User, eve: User, case: Case) -> None:
    for person in (erin, eve):
        say(person, case, 0)
    later = factories.launched("later", mining=case.build.own_mining)
    worker.open_cases(later)
    again = Case.objects.get(build=later, pair=case.pair_id)
    assert (kept(again), again.label) == (0, None)
    assert Tally.objects.get(pk=later.pk).no_matches_in_force == 1


@pytest.mark.django_db(transaction=True)
def test_a_review_of_the_moment_in_which_another_build_opens_counts_there(
    erin: User, eve: User, case: Case
) -> None:
    later = factories.launched("later", mining=case.build.own_mining)

    def review_twice() -> None:
        say(erin, case, 0)
        say(eve, case, 0)

    meanwhile(review_twice, lambda: worker.open_cases(later))
    assert kept(Case.objects.get(build=later, pair=case.pair_id)) == 0


def test_a_recount_finds_what_was_written_without_it(erin: User, eve: User, case: Case) -> None:
    for person in (erin, eve):
        say(person, case, 0)
    Case.objects.update(label_in_force=None)
    Tally.objects.update(matches_in_force=0, no_matches_in_force=0)
    recount_labels_in_force()
    assert kept(case) == 0


@pytest.mark.parametrize("needed", [1, 2])
def test_what_is_published_is_what_is_in_force(erin: User, eve: User, needed: int) -> None:
    build = factories.said(factories.opened(), [1, 0, 1, None])
    Build.objects.update(reviews_needed=needed)
    build.refresh_from_db()
    first, second, third, fourth = factories.cases(build)[:4]
    for person, case, label in ((erin, first, 0), (eve, second, 1), (erin, second, 1), (erin, fourth, 1)):
        say(person, case, label)
    publish_study(third, 0)
    published = {row.pair: int(row.relevance) for row in said_of(build, unfinished=True)}
    rows = Case.objects.filter(build=build, label_in_force__isnull=False)
    assert published == dict(rows.values_list("pair_id", "label_in_force"))
    assert (first.pair_id in published, published[first.pair_id]) == (True, 0 if needed == 1 else 1)


MOVES = st.lists(
    st.tuples(
        st.sampled_from(["1", "0", "unsure", "undo", "settle 1", "settle 0", "abandon", "rule", "study"]),
        st.integers(0, 1),
        st.integers(0, 2),
    ),
    max_size=14,
)


@settings(
    max_examples=30,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
    deadline=None,
)
@given(moves=MOVES)
def test_whatever_is_done_in_whatever_order_the_recount_agrees(moves: list[tuple[str, int, int]]) -> None:
    with undone():
        people = [factories.erin(), factories.person("eve", Role.EXPERT)]
        build = factories.opened(k=1)
        cases = factories.cases(build)[:2]
        cases.append(factories.open_case(build, cases[0].candidate, 2))
        for what, who, which in moves:
            case = Case.objects.get(pk=cases[which].pk)
            if what == "rule":
                change_review_rule(build, 1 + who, people[0], "why not")
            elif what != "study":
                do(what, people[who], case)
            elif not Label.objects.filter(pair=case.pair_id, annotator__kind="merge").exists():
                publish_study(case, who)
            kept(case)
        assert not Case.objects.filter(stage=Stage.SETTLED, label_in_force=None).exists()
