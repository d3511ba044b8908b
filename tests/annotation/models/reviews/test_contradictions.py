"""Whether experts contradict a case is kept with it as a recount says, whoever wrote last and how."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import pytest
from django.contrib.auth.models import User
from django.db import connection, transaction
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from annotation import review
from annotation.accounts.roles import Role
from annotation.models import Case, Review
from annotation.models.reviews.contradictions import refresh_contradictions
from annotation.review.earlier_revisions import NoReviewToRestore, restore_revision
from annotation.stages import Stage
from bench.seed.check import wrongly_contradicted
from tests import factories

pytestmark = pytest.mark.django_db
EVIDENCE = "c" * 64


@pytest.fixture
def erin() -> User:
    return factories.erin()


@pytest.fixture
def case() -> Case:
    """A case that the agents settled as a match."""
    return factories.settled(factories.cases(factories.opened())[0], 1)


def say(user: User, case: Case, label: int | None) -> Review:
    seen = review.revision_seen(review.reviews_of(case.pair_id, user).last())
    return review.store_label(user, case, label, "because", EVIDENCE, seen)


def contradicted(case: Case) -> bool:
    assert not wrongly_contradicted().exists()
    return Case.objects.get(pk=case.pk).contradicted


@pytest.mark.parametrize(("label", "kept"), [(0, True), (1, False), (None, False)])
def test_the_other_label_contradicts_and_being_unsure_does_not(
    erin: User, case: Case, label: int | None, kept: bool
) -> None:
    say(erin, case, label)
    assert contradicted(case) is kept


def test_a_newer_label_counts_instead_and_an_undo_brings_back_the_older(erin: User, case: Case) -> None:
    say(erin, case, 0)
    last = say(erin, case, 1)
    assert not contradicted(case)
    review.undo_latest_label(erin, case, last.revision)
    assert contradicted(case)


def test_a_label_that_is_taken_back_or_stands_again(erin: User, case: Case) -> None:
    first = say(erin, case, 0)
    review.undo_latest_label(erin, case, 1)
    assert not contradicted(case)
    restore_revision(first, erin)
    assert contradicted(case)


def test_one_of_two_people_is_enough(erin: User, case: Case) -> None:
    say(erin, case, 0)
    say(factories.person("eve", Role.EXPERT), case, 1)
    assert contradicted(case)
    review.undo_latest_label(erin, case, 1)
    assert not contradicted(case)


def test_a_case_that_settles_after_the_label(erin: User) -> None:
    cases = factories.cases(factories.opened())
    for case in cases[:2]:
        say(erin, case, 0)
        assert not contradicted(case)
    assert contradicted(factories.settled(cases[0], 1))
    assert not contradicted(factories.settled(cases[1], 0))


def test_another_build_and_round_of_the_same_pair_have_their_own_verdict(erin: User, case: Case) -> None:
    again = factories.open_case(case.build, case.candidate, 2)
    say(erin, case, 0)
    factories.settled(again, 0)
    assert contradicted(case) and not contradicted(again)
    say(erin, case, 1)
    assert contradicted(again) and not contradicted(case)


def test_an_abandoned_case_is_contradicted_by_nobody(erin: User) -> None:
    case = factories.abandoned(factories.cases(factories.opened())[0])
    say(erin, case, 0)
    assert not contradicted(case)


def test_a_double_click_and_a_lost_race_change_nothing(erin: User, case: Case) -> None:
    say(erin, case, 0)
    review.store_label(erin, case, 0, "because", EVIDENCE, 0)
    with pytest.raises(review.Conflict):
        review.store_label(erin, case, 1, "otherwise", EVIDENCE, 0)
    assert contradicted(case)


def test_the_recount_finds_what_is_wrong_and_a_note_puts_it_right(erin: User, case: Case) -> None:
    say(erin, case, 0)
    Case.objects.update(contradicted=False)
    assert list(wrongly_contradicted()) == [case]
    assert (refresh_contradictions(case.pair_id), refresh_contradictions(case.pair_id)) == (1, 0)
    assert contradicted(case)


MOVES = st.lists(
    st.tuples(
        st.sampled_from(["1", "0", "unsure", "undo", "restore", "settle 1", "settle 0", "abandon"])
    ).flatmap(lambda what: st.tuples(st.just(what[0]), st.integers(0, 1), st.integers(0, 3))),
    max_size=14,
)


@settings(
    max_examples=40,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
    deadline=None,
)
@given(moves=MOVES)
def test_whatever_is_done_in_whatever_order_the_recount_agrees(moves: list[tuple[str, int, int]]) -> None:
    with undone():
        people = [factories.erin(), factories.person("eve", Role.EXPERT)]
        build = factories.opened(k=1)
        cases = factories.cases(build)[:2]
        cases += [factories.open_case(build, case.candidate, 2) for case in cases]
        for what, who, which in moves:
            do(what, people[who], Case.objects.get(pk=cases[which].pk))
            assert not wrongly_contradicted().exists()


@contextmanager
def undone() -> Iterator[None]:
    """What the block writes is rolled back: each example begins anew."""
    with transaction.atomic():
        yield
        transaction.set_rollback(True)


def do(what: str, user: User, case: Case) -> None:
    """One thing that people or workers do; nothing where it can't be done now."""
    labels = {"1": 1, "0": 0, "unsure": None}
    last = review.reviews_of(case.pair_id, user).last()
    if what in labels:
        say(user, case, labels[what])
    elif what == "undo" and last and not last.withdrawn:
        review.undo_latest_label(user, case, last.revision)
    elif what == "restore" and last:
        first = review.reviews_of(case.pair_id, user).first()
        assert first is not None
        try:
            restore_revision(first, user)
        except NoReviewToRestore:
            return
    elif what.startswith("settle") and case.stage == Stage.SCREENING:
        factories.settled(case, int(what[-1]))
    elif what == "abandon" and case.stage == Stage.SCREENING:
        factories.abandoned(case)


def closing(doing: Callable[[], object]) -> None:
    try:
        doing()
    finally:
        connection.close()


def meanwhile(first: Callable[[], object], second: Callable[[], object]) -> None:
    """`second` begins while `first` is done and not committed: it has to wait, and then goes on."""
    with ThreadPoolExecutor(1) as threads:
        with transaction.atomic():
            first()
            waiting = threads.submit(closing, second)
            with pytest.raises(TimeoutError):
                waiting.result(0.4)
        waiting.result(30)


@pytest.mark.django_db(transaction=True)
def test_a_verdict_waits_for_a_label_that_is_about_to_be_given_and_sees_it(erin: User) -> None:
    case = factories.cases(factories.opened())[0]
    meanwhile(lambda: say(erin, case, 0), lambda: factories.settled(case, 1))
    assert contradicted(case)


@pytest.mark.django_db(transaction=True)
def test_a_label_waits_for_a_verdict_that_is_about_to_be_given_and_sees_it(erin: User) -> None:
    case = factories.cases(factories.opened())[0]
    meanwhile(lambda: factories.settled(case, 1), lambda: say(erin, case, 0))
    assert contradicted(case)


@pytest.mark.django_db(transaction=True)
def test_of_two_people_at_once_the_later_one_sees_the_earlier(erin: User, case: Case) -> None:
    eve = factories.person("eve", Role.EXPERT)
    meanwhile(lambda: say(erin, case, 0), lambda: say(eve, case, 1))
    assert contradicted(case)
    assert Review.objects.current().count() == 2
