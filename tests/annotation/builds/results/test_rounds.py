"""Rounds beside each other, against counts done by hand; and a build that opens and publishes them apart."""

from __future__ import annotations

from collections import Counter

import pytest
from django.contrib.auth.models import User

from annotation import review
from annotation.builds.results import build_comparison, rounds
from annotation.builds.results.rounds import RoundVerdicts
from annotation.jobs import worker
from annotation.models import Build, Case, Tally
from annotation.review.worklists.order import (
    Parted,
    Show,
    cases_of_worklist,
    count_review_progress,
    next_case,
    previous_case,
)
from retrieval.models import Label
from tests import factories

pytestmark = pytest.mark.django_db
ROUNDS = ((1, 1, 0, 1, 0), (1, 0, 0, None, None), (1, 1, 0, 1, 1))


@pytest.fixture
def build() -> Build:
    """Three rounds over nine pairs of three queries; the last four pairs are open in each."""
    return factories.said(factories.opened(rounds=3), *ROUNDS)


@pytest.fixture
def erin() -> User:
    return factories.erin()


def test_each_round_is_counted_apart(build: Build) -> None:
    told = rounds.rounds_of(build).rounds

    assert [(one.number, one.cases, one.settled, one.matches, one.abandoned) for one in told] == [
        (1, 9, 5, 3, 0),
        (2, 9, 3, 1, 2),
        (3, 9, 5, 4, 0),
    ]
    assert [one.calls for one in told] == [5, 3, 5]
    assert [(one.screened, one.unclear) for one in told] == [(5, 0), (3, 0), (5, 0)]


def test_pairs_are_counted_by_what_their_rounds_said(build: Build) -> None:
    found = rounds.rounds_of(build)

    assert found.said == {
        RoundVerdicts(3, 0, 3): 1,
        RoundVerdicts(2, 1, 3): 1,
        RoundVerdicts(0, 3, 3): 1,
        RoundVerdicts(2, 0, 3): 1,
        RoundVerdicts(1, 1, 3): 1,
        RoundVerdicts(0, 0, 3): 4,
    }
    assert (found.pairs, found.parted) == (9, 2)


def test_agreement_is_over_the_pairs_that_two_rounds_judged(build: Build) -> None:
    found = rounds.rounds_of(build).agreement

    assert found is not None
    assert (found.pairs, found.queries, found.few_queries) == (5, 2, True)
    assert found.alike.value == pytest.approx(3 / 5)
    # 13 values, 8 of them 1; two pairs that part: 2·(2·1)/2 = 2 and 2·(1·1)/1 = 2.
    assert found.alpha.value == pytest.approx(1 - 12 * (2 + 2) / (13**2 - 8**2 - 5**2))


def test_nothing_judged_twice_has_no_agreement() -> None:
    build = factories.said(factories.opened(rounds=2), (1, None), (None, 0))
    assert rounds.rounds_of(build).agreement is None


def test_what_came_later_is_seen_at_the_next_look(build: Build) -> None:
    before = rounds.rounds_of(build).rounds[1].settled
    factories.settled(factories.cases(build)[-2], 1)
    after = Build.objects.select_related("tally", "annotator").get(pk=build.pk)
    assert rounds.rounds_of(after).rounds[1].settled == before + 1


def test_pairs_that_part_come_once_by_their_first_round(build: Build) -> None:
    found = list(rounds.find_disagreeing_cases(build))
    assert [(case.round, case.label) for case in found] == [(1, 1), (1, 0)]
    assert found[0].pair != found[1].pair


def test_a_pair_comes_once_in_every_list_of_a_reviewer(erin: User, build: Build) -> None:
    for show in Show:
        pairs = Counter(cases_of_worklist(erin, build, show).values_list("pair", flat=True))
        assert set(pairs.values()) <= {1}, show
    assert count_review_progress(erin, build, factories.cases(build)[0].query_id).total == 9


def test_the_parted_pairs_are_gone_through_and_drop_out(erin: User, build: Build) -> None:
    first, second = rounds.find_disagreeing_cases(build)
    assert next_case(erin, build, Parted()) == first
    review.store_label(erin, first, 0, "the third round is right", "e" * 64, 0)
    assert next_case(erin, build, Parted(), first) == second
    assert previous_case(erin, build, Parted(), second) == first


def test_a_comparison_takes_the_first_round_of_each(build: Build) -> None:
    other = factories.said(
        factories.opened("other", rounds=2, annotator=factories.annotator(model="other")),
        (1, 1, 1),
        (0, 0, 0),
    )
    found = build_comparison.compare_two_builds(build, other)
    assert (found.pairs, found.judged, found.flips) == (9, 3, 1)
    assert [took.calls for took in found.took] == [5, 3]


def test_labels_are_published_round_by_round_also_where_they_are_alike(build: Build) -> None:
    by_round: dict[int, list[int | None]] = {}
    for case in factories.cases(build)[:15]:
        label = Label.objects.filter(pair=case.pair, annotator=build.annotator, round=case.round).first()
        by_round.setdefault(case.round, []).append(label.value if label else None)
    assert tuple(map(tuple, (by_round[number] for number in (1, 2, 3)))) == ROUNDS


def test_another_build_of_the_annotator_adds_only_the_rounds_that_are_new() -> None:
    factories.said(factories.opened("one", rounds=1), (1,))
    factories.said(factories.opened("two", rounds=2), (1,), (1,))
    said = Label.objects.order_by("round").values_list("round", "value")
    assert list(said) == [(1, 1), (2, 1)]


def test_a_build_opens_a_case_a_round_for_each_candidate_once() -> None:
    mined = factories.mining(k=1)
    build = factories.launched(mining=mined, rounds=3, limit=2)
    snippet = build.snippets.members.get(position=0).text
    for member in build.queries.members.select_related("text"):
        factories.candidate(mined, member.text, snippet, 1)

    assert worker.open_cases(build) == 6
    assert Tally.objects.get(build=build).screening == 6
    made = Case.objects.filter(build=build).order_by("pk").values_list("round", flat=True)
    assert list(made) == [1, 1, 2, 2, 3, 3]
