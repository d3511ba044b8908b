"""Rules that make one label of several, and the labels of the annotator that each of them is."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.builds.control.pause_resume import ControlRefused
from annotation.builds.results import rounds
from annotation.builds.results.rounds import RoundVerdicts
from annotation.derived import round_merge
from annotation.derived.round_merge import RULES, Rule, request_round_merge
from annotation.models import Build, Case, Merge
from annotation.stages import Stage
from retrieval.models import Annotator, Label
from tests import factories

labels = st.lists(st.sampled_from([1, 0, None]), min_size=2, max_size=9)
THREE = ((1, 1, 0, 1, 0), (1, 0, 0, None, None), (1, 1, 0, 1, 1))
"""Five pairs: all match, two of three, all no match, two and one unjudged, apart and one unjudged."""


def said(found: list[int | None]) -> RoundVerdicts:
    return RoundVerdicts(found.count(1), found.count(0), len(found))


def turned(found: list[int | None]) -> list[int | None]:
    return [None if one is None else 1 - one for one in found]


@given(labels)
def test_unanimous_labels_stand_under_every_rule(found: list[int | None]) -> None:
    label = RULES[Rule.UNANIMOUS](said(found))
    if label is not None:
        assert {rule(said(found)) for rule in RULES.values()} == {label}
        assert set(found) == {label}


@given(labels)
def test_no_rule_gives_a_label_that_no_round_gave(found: list[int | None]) -> None:
    for rule in RULES.values():
        assert rule(said(found)) in {None, *found}


@given(labels)
def test_turning_every_label_round_turns_majority_and_unanimous_round(found: list[int | None]) -> None:
    for rule in (Rule.MAJORITY, Rule.UNANIMOUS):
        (label,) = turned([RULES[rule](said(found))])
        assert RULES[rule](said(turned(found))) == label


@given(labels)
def test_any_match_and_all_match_are_each_other_turned_round(found: list[int | None]) -> None:
    (label,) = turned([RULES[Rule.ALL_MATCH](said(found))])
    assert RULES[Rule.ANY_MATCH](said(turned(found))) == label


@given(labels.filter(lambda found: 1 in found))
def test_another_match_never_takes_a_match_away(found: list[int | None]) -> None:
    for rule in RULES.values():
        if rule(said(found)) == 1:
            place = next((at for at, one in enumerate(found) if one != 1), 0)
            assert rule(said([*found[:place], 1, *found[place + 1 :]])) == 1


@pytest.mark.parametrize(
    ("found", "majority"),
    [([1, 0], None), ([1, None, None], None), ([1, 1, None], 1), ([0, 0, 1], 0), ([1, 1, 0, 0], None)],
)
def test_a_majority_is_of_all_rounds_and_a_tie_is_unjudged(
    found: list[int | None], majority: int | None
) -> None:
    assert RULES[Rule.MAJORITY](said(found)) == majority


@pytest.fixture
def build(db: None) -> Build:
    """Three rounds over nine pairs, of which the last four were judged alike."""
    rest = (0,) * 4
    return factories.said(factories.opened(rounds=3), *((*labels, *rest) for labels in THREE))


def merged(build: Build, rule: Rule = Rule.MAJORITY) -> Merge:
    row = request_round_merge(build, rule, factories.ada())
    round_merge.advance_waiting_merges()
    row.refresh_from_db()
    return row


def published(row: Merge, build: Build) -> list[int | None]:
    """The standing labels by query and rank."""
    stands = {}
    for label in Label.objects.filter(annotator=row.annotator).order_by("round"):
        stands[label.pair_id] = label.value
    pairs = Case.objects.filter(build=build, round=1).order_by("query", "rank").values_list("pair", flat=True)
    return [stands.get(pair) for pair in pairs]


def test_merged_labels_belong_to_an_annotator_of_their_own(build: Build) -> None:
    row = merged(build)

    assert published(row, build) == [1, 1, 0, 1, None, 0, 0, 0, 0]
    assert (row.pairs, row.new_or_changed, row.withdrawn) == (9, 8, 0) and row.finished_at
    assert row.annotator.kind == Annotator.Kind.MERGE
    assert row.annotator.config == {
        "of": {"kind": "agents", "name": "test-driven agents", "version": build.annotator.version},
        "rule": "majority",
        "rounds": 3,
    }
    told = set(Label.objects.filter(annotator=row.annotator).values_list("source", "basis"))
    assert told == {(f"merge {row.pk} of build {build.pk}", "merged")}


def test_what_a_rule_would_give_is_what_it_gives(build: Build) -> None:
    for rule in Rule:
        found, row = round_merge.preview_merge(rule, rounds.rounds_of(build).said), merged(build, rule)
        labels = published(row, build)
        assert (found.matches, found.no_matches, found.unjudged) == tuple(map(labels.count, (1, 0, None)))


def test_merging_again_changes_nothing_and_another_rule_stands_beside(build: Build) -> None:
    first, again, other = merged(build), merged(build), merged(build, Rule.UNANIMOUS)

    assert first.annotator == again.annotator != other.annotator
    assert (again.pairs, again.new_or_changed, again.withdrawn) == (9, 0, 0)
    assert Label.objects.filter(annotator=first.annotator).count() == 8
    assert published(other, build) == [1, None, 0, None, None, 0, 0, 0, 0]


def test_what_has_changed_since_is_appended(build: Build) -> None:
    first = merged(build)
    changed = Case.objects.filter(build=build, round__in=[1, 3]).order_by("query", "rank", "round")
    Case.objects.filter(pk__in=[case.pk for case in changed[:2]]).update(label=0)
    lost = Case.objects.filter(build=build, round=3).order_by("query", "rank")[1]
    Case.objects.filter(pk=lost.pk).update(label=None, stage=Stage.ABANDONED)
    again = merged(build)

    assert published(again, build)[:2] == [0, None]
    assert (again.new_or_changed, again.withdrawn) == (1, 1)
    pair = lost.pair_id
    rows = Label.objects.filter(annotator=first.annotator, pair=pair).order_by("round")
    assert list(rows.values_list("round", "value")) == [(1, 1), (2, None)]


def test_labels_of_the_rounds_stay_as_they_are(build: Build) -> None:
    own = Label.objects.filter(annotator=build.annotator)
    before = list(own.order_by("pk").values())
    merged(build)
    assert list(own.order_by("pk").values()) == before


def test_the_history_says_who_merged_by_which_rule(build: Build) -> None:
    merged(build)
    event = build.events.get(event="merged")
    assert event.user == factories.ada() and "majority" in event.note and "3 rounds" in event.note


def test_a_merge_goes_on_where_it_stopped_and_two_workers_do_a_piece_once(
    build: Build, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(round_merge, "QUERIES_AT_ONCE", 1)
    row = request_round_merge(build, Rule.MAJORITY)
    stale = Merge.objects.get(pk=row.pk)
    round_merge.advance_merge(Merge.objects.get(pk=row.pk))
    round_merge.advance_merge(stale)
    row.refresh_from_db()
    assert (row.pairs, row.finished_at) == (3, None)
    round_merge.advance_waiting_merges()
    row.refresh_from_db()
    assert (row.pairs, row.new_or_changed) == (9, 8) and row.finished_at


def test_asking_twice_at_once_is_asking_once(build: Build) -> None:
    assert request_round_merge(build, Rule.MAJORITY) == request_round_merge(build, Rule.MAJORITY)


@pytest.mark.django_db
def test_a_build_that_goes_on_or_has_one_round_is_not_merged() -> None:
    with pytest.raises(ControlRefused, match="once it is over"):
        request_round_merge(factories.opened(rounds=2), Rule.MAJORITY)
    with pytest.raises(ControlRefused, match="one round"):
        request_round_merge(factories.said(factories.opened("one"), (1,)), Rule.MAJORITY)


def test_the_scale_of_the_source_is_kept(db: None) -> None:
    half = factories.annotator(criterion="half")
    row = merged(factories.said(factories.opened(rounds=2, annotator=half), (1,), (1,)))
    assert Label.objects.get(annotator=row.annotator).scale == Label.Scale.HALF
