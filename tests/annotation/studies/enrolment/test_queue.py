"""What is handed to whom, how long it is held, and how it is given back."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from annotation.models import (
    Acknowledgement,
    Assignment,
    Condition,
    Enrolment,
    Quota,
    Study,
    StudyPair,
)
from annotation.studies.enrolment import queue
from annotation.studies.enrolment.queue import BadSkip, Lapsed, QueueClosed, next_assignment
from annotation.studies.exposure import mark_seen
from annotation.studies.rating import drafts
from retrieval.models import Pair, Text
from tests import studies

pytestmark = pytest.mark.django_db
State = Assignment.State


def grid(queries: int, pairs: int) -> list[Pair]:
    """So many queries with so many pairs each."""
    asked = Text.objects.keep_all([f"query {number}" for number in range(queries)])
    found = Text.objects.keep_all([f"def f{number}(): pass\n" for number in range(pairs)])
    return Pair.objects.keep_all([(query.pk, snippet.pk) for query in asked for snippet in found])


def given(enrolment: Enrolment) -> Assignment:
    found = next_assignment(enrolment)
    assert found is not None
    return found


def finish(assignment: Assignment) -> None:
    """As if it had been rated."""
    Assignment.objects.filter(pk=assignment.pk).update(state=State.DONE)
    quotas = Quota.objects.filter(study_pair=assignment.study_pair_id, condition=assignment.condition_id)
    for quota in quotas:
        quota.done += 1
        quota.save()


def whole_order(enrolment: Enrolment) -> list[Assignment]:
    """All that a rater is given who rates one after the other."""
    found: list[Assignment] = []
    while (assignment := next_assignment(enrolment)) is not None:
        finish(assignment)
        found.append(assignment)
    return found


def run_out(*assignments: Assignment) -> None:
    keys = [assignment.pk for assignment in assignments]
    Assignment.objects.filter(pk__in=keys).update(reserved_until=timezone.now() - timedelta(seconds=1))


def queries_of(order: Sequence[Assignment]) -> list[int]:
    return [assignment.study_pair.pair.query_id for assignment in order]


def test_an_open_pair_comes_again_and_counts_once() -> None:
    study = studies.study()
    rita = studies.rater("rita", study)
    first = given(rita)
    assert given(rita) == first
    quota = Quota.objects.get(study_pair=first.study_pair)
    assert (quota.reserved, quota.done, first.position, first.state) == (1, 0, 1, State.RESERVED)
    assert first.reserved_until - timezone.now() > timedelta(minutes=29)


def test_a_rater_is_given_each_pair_once_and_is_finished_then() -> None:
    study = studies.study(raters=1)
    rita = studies.rater("rita", study)
    order = whole_order(rita)
    assert {assignment.study_pair.number for assignment in order} == {1, 2, 3}
    assert [assignment.position for assignment in order] == [1, 2, 3]
    rita.refresh_from_db()
    assert rita.finished_at is not None
    assert next_assignment(rita) is None


def test_no_more_is_handed_out_than_is_wanted_and_who_waits_is_not_finished() -> None:
    study = studies.study(pairs=studies.three_pairs()[:1], raters=1)
    rita, rolf = studies.rater("rita", study), studies.rater("rolf", study)
    held = given(rita)
    assert next_assignment(rolf) is None
    rolf.refresh_from_db()
    assert rolf.finished_at is None, "rita's reservation may lapse"
    queue.skip_assignment(held, held.token, "no idea")
    assert given(rolf).study_pair == held.study_pair


def test_pairs_with_fewer_ratings_come_first() -> None:
    study = studies.study(pairs=grid(6, 1))
    first = {given(studies.rater(f"rater {number}", study)).study_pair_id for number in range(6)}
    assert len(first) == 6


def test_the_same_seed_gives_the_same_order_and_another_another() -> None:
    pairs = grid(40, 1)
    orders = []
    for name, seed in (("first", 7), ("second", 7), ("third", 8)):
        study = studies.study(name=name, pairs=pairs)
        order = whole_order(studies.rater("rita", study, seed=seed))
        orders.append([assignment.study_pair.number for assignment in order])
    assert orders[0] == orders[1]
    assert orders[0] != orders[2]
    assert orders[0] != sorted(orders[0])


def test_pairs_of_one_query_are_thirty_apart() -> None:
    order = queries_of(whole_order(studies.rater("rita", studies.study(pairs=grid(30, 3)))))
    assert len(order) == 90
    for place, query in enumerate(order):
        assert query not in order[max(0, place - 29) : place]


def test_too_few_queries_are_spaced_as_far_as_they_can_be() -> None:
    order = queries_of(whole_order(studies.rater("rita", studies.study(pairs=grid(5, 4)))))
    for place, query in enumerate(order):
        assert query not in order[max(0, place - 4) : place]


def test_by_query_all_pairs_of_a_query_follow_each_other() -> None:
    study = studies.study(pairs=grid(8, 3), order=Study.Order.BY_QUERY)
    order = queries_of(whole_order(studies.rater("rita", study)))
    blocks = [order[start : start + 3] for start in range(0, 24, 3)]
    assert all(len(set(block)) == 1 for block in blocks)
    assert len({block[0] for block in blocks}) == 8


def test_capacity_is_what_a_rater_can_be_given() -> None:
    study = studies.study(pairs=grid(10, 1))
    rita = studies.rater("rita", study, capacity=4)
    assert len(whole_order(rita)) == 4
    rita.refresh_from_db()
    assert rita.finished_at is not None


def test_a_pair_whose_agent_evidence_was_seen_is_not_handed_out() -> None:
    study = studies.study()
    rita = studies.rater("rita", study)
    seen = study.pairs.get(number=2)
    mark_seen(rita.user, [seen.pair_id])
    assert {assignment.study_pair.number for assignment in whole_order(rita)} == {1, 3}


def test_of_two_snippets_neither_may_have_been_seen() -> None:
    study = studies.study(pairs=(), kind=Study.Kind.PAIRWISE, scale=Study.Scale.PREFERENCE)
    one, two, three = studies.three_pairs()
    for number, (left, right) in enumerate(((one, two), (two, three)), 1):
        pair = StudyPair.objects.create(study=study, number=number, pair=left, other=right)
        Quota.objects.create(study_pair=pair, condition=studies.condition(study), wanted=3)
    rita = studies.rater("rita", study)
    mark_seen(rita.user, [three.pk])
    assert [assignment.study_pair.number for assignment in whole_order(rita)] == [1]


def test_sides_are_shuffled_by_the_raters_seed() -> None:
    study = studies.study(pairs=(), kind=Study.Kind.PAIRWISE, scale=Study.Scale.PREFERENCE)
    pairs = grid(20, 2)
    for number in range(20):
        pair = StudyPair.objects.create(
            study=study, number=number + 1, pair=pairs[2 * number], other=pairs[2 * number + 1]
        )
        Quota.objects.create(study_pair=pair, condition=studies.condition(study), wanted=3)
    swapped = [assignment.swapped for assignment in whole_order(studies.rater("rita", study))]
    assert 4 <= sum(swapped) <= 16


def test_whoever_launched_the_study_can_not_rate_in_it() -> None:
    study = studies.study()
    mine = studies.rater("ada", study)
    with pytest.raises(QueueClosed, match="launched"):
        next_assignment(mine)


def test_information_and_guidelines_come_first() -> None:
    study = studies.study()
    rita = studies.rater("rita", study, accepted_at=None)
    with pytest.raises(QueueClosed, match="accept"):
        next_assignment(rita)
    rita.accepted_at = timezone.now()
    Acknowledgement.objects.filter(user=rita.user).delete()
    with pytest.raises(QueueClosed, match="guidelines"):
        next_assignment(rita)


def test_a_pause_hands_out_nothing_new_and_the_end_nothing_at_all() -> None:
    study = studies.study()
    rita, rolf = studies.rater("rita", study), studies.rater("rolf", study)
    held = given(rita)
    study.state = Study.State.PAUSED
    study.save()
    rita.refresh_from_db()
    rolf.refresh_from_db()
    assert given(rita) == held
    with pytest.raises(QueueClosed, match="paused"):
        next_assignment(rolf)
    Study.objects.update(state=Study.State.CLOSED)
    rita.refresh_from_db()
    with pytest.raises(QueueClosed, match="closed"):
        next_assignment(rita)


def test_planted_pairs_begin_and_are_spread_and_take_no_place() -> None:
    study = studies.study(pairs=grid(40, 1))
    kinds = ["onboarding"] * 2 + ["attention"] * 3
    for number, (pair, kind) in enumerate(zip(grid(45, 1)[40:], kinds, strict=True), 41):
        StudyPair.objects.create(study=study, number=number, pair=pair, planted=kind, answer=1)
    orders = [
        [assignment.study_pair.planted for assignment in whole_order(studies.rater(name, study))]
        for name in ("rita", "rolf")
    ]
    for order in orders:
        assert order[:2] == ["onboarding", "onboarding"]
        assert (order.count(""), order.count("onboarding"), order.count("attention")) == (40, 2, 3)
        places = [place for place, kind in enumerate(order) if kind == "attention"]
        assert all(later - earlier > 1 for earlier, later in itertools.pairwise(places))
        assert places[-1] > 20
    assert orders[0] != orders[1]


def test_a_reservation_that_ran_out_is_given_back_and_its_draft_stays() -> None:
    study = studies.study(raters=1)
    rita = studies.rater("rita", study)
    held = given(rita)
    drafts.save_draft(held, "notes", "half a thought")
    run_out(held)
    assert queue.expire_reservations() == 1
    held.refresh_from_db()
    assert (held.state, Quota.objects.get(study_pair=held.study_pair).reserved) == (State.LAPSED, 0)
    assert drafts.load_draft_texts(held) == {"notes": "half a thought"}
    again = given(rita)
    assert (again, again.state) == (held, State.RESERVED)
    assert again.token != held.token


def test_a_place_that_lapsed_goes_to_the_next_rater() -> None:
    study = studies.study(pairs=studies.three_pairs()[:1], raters=1)
    rita, rolf = studies.rater("rita", study), studies.rater("rolf", study)
    held = given(rita)
    run_out(held)
    assert given(rolf).study_pair == held.study_pair, "what has run out is given back without the worker"
    assert next_assignment(rita) is None


def test_a_heartbeat_holds_on_and_an_old_one_is_told() -> None:
    rita = studies.rater("rita", studies.study())
    held = given(rita)
    run_out(held)
    assert queue.record_heartbeat(held, held.token) > timezone.now() + timedelta(minutes=29)
    assert queue.expire_reservations() == 0
    run_out(held)
    queue.expire_reservations()
    with pytest.raises(Lapsed, match="kept"):
        queue.record_heartbeat(held, held.token)


def test_a_skipped_pair_is_given_back_and_does_not_come_again() -> None:
    study = studies.study(raters=1)
    rita = studies.rater("rita", study)
    held = given(rita)
    with pytest.raises(BadSkip, match="why"):
        queue.skip_assignment(held, held.token, "  ")
    queue.skip_assignment(held, held.token, "needs a GPU")
    queue.skip_assignment(held, held.token, "needs a GPU")
    held.refresh_from_db()
    assert (held.state, held.skip_reason) == (State.SKIPPED, "needs a GPU")
    assert Quota.objects.get(study_pair=held.study_pair).reserved == 0
    assert held.study_pair not in [assignment.study_pair for assignment in whole_order(rita)]


def test_another_window_is_not_skipped_from_here() -> None:
    rita = studies.rater("rita", studies.study())
    held = given(rita)
    run_out(held)
    queue.expire_reservations()
    given(rita)
    with pytest.raises(Lapsed, match="another window"):
        queue.skip_assignment(held, held.token, "from the old page")


def test_leaving_early_gives_back_what_is_open_and_keeps_what_is_done() -> None:
    study = studies.study(raters=1)
    rita = studies.rater("rita", study)
    studies.rated(rita, 1)
    held = given(rita)
    queue.leave_study(rita)
    rita.refresh_from_db()
    assert rita.finished_at is not None
    assert rita.left_at is not None
    assert Quota.objects.get(study_pair=held.study_pair).reserved == 0
    assert next_assignment(rita) is None
    assert rita.assignments.filter(state=State.DONE).count() == 1


def test_a_locked_pair_comes_again_before_anything_else() -> None:
    study = studies.study(conditions=(Condition.Kind.REVEAL,))
    rita = studies.rater("rita", study)
    held = given(rita)
    Assignment.objects.filter(pk=held.pk).update(state=State.LOCKED)
    run_out(held)
    queue.expire_reservations()
    assert given(rita) == held


def test_a_pair_of_nobody_is_not_found() -> None:
    study = studies.study()
    rita = studies.rater("rita", study)
    held = given(rita)
    assert queue.open_assignment(rita.user, study.pk, held.study_pair.number) == held
    other = next(number for number in (1, 2, 3) if number != held.study_pair.number)
    with pytest.raises(Assignment.DoesNotExist):
        queue.open_assignment(rita.user, study.pk, other)
    with pytest.raises(Assignment.DoesNotExist):
        queue.open_assignment(studies.user("rolf"), study.pk, held.study_pair.number)


def asked_for(enrolment: Enrolment) -> int:
    fresh = Enrolment.objects.select_related("study", "condition", "user").get(pk=enrolment.pk)
    with CaptureQueriesContext(
        connection,
    ) as queries:
        given(fresh)
    return len(queries)


def test_the_next_pair_costs_as_many_queries_in_a_large_study_as_in_a_small_one() -> None:
    counts = []
    for name, queries in (("small", 5), ("large", 80)):
        study = studies.study(name=name, pairs=grid(queries, 2))
        rita = studies.rater("rita", study)
        for _ in range(queries):
            finish(given(rita))
        counts.append(asked_for(rita))
    assert counts[0] == counts[1] <= 14


def test_two_workers_that_find_the_same_lapse_give_one_place_back() -> None:
    study = studies.study(pairs=studies.three_pairs()[:1], raters=1)
    held = given(studies.rater("rita", study))
    run_out(held)
    now = timezone.now()
    as_read = [Assignment.objects.select_related("study_pair").get(pk=held.pk) for _ in range(2)]
    assert [queue.lapse_reservation(row, now) for row in as_read] == [True, False]
    assert Quota.objects.get().reserved == 0
