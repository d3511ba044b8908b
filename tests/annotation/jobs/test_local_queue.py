"""One claim for all threads of a process: who claims, who takes, and what is left."""

from __future__ import annotations

import threading

import pytest

from annotation.jobs import local_queue
from annotation.jobs.local_queue import Desk
from annotation.models import Case


def cases(count: int) -> list[Case]:
    return [Case(pk=number) for number in range(1, count + 1)]


def nothing() -> None:
    """Nobody waits."""


def test_whoever_fills_it_has_the_first_case_and_anybody_the_next() -> None:
    desk, made = Desk(), cases(3)
    assert desk.fill(lambda: made, nothing) is made[0]
    assert [desk.take(), desk.take(), desk.take()] == [made[1], made[2], None]


def test_nothing_is_claimed_while_something_lies_there() -> None:
    desk, made = Desk(), cases(2)
    desk.fill(lambda: made, nothing)
    assert desk.fill(lambda: pytest.fail("claimed again"), nothing) is None
    assert desk.clear() == [made[1]]
    assert desk.take() is None


def test_a_claim_that_fails_keeps_nobody_from_the_next() -> None:
    desk, made = Desk(), cases(1)
    with pytest.raises(RuntimeError):
        desk.fill(fail, nothing)
    assert desk.fill(lambda: made, nothing) is made[0]


def fail() -> list[Case]:
    raise RuntimeError("the database is away")


def test_others_wait_for_a_claim_without_a_connection_and_take_of_it() -> None:
    desk, made, gave_back = Desk(), cases(2), threading.Event()
    found: list[Case | None] = []

    def late() -> None:
        found.append(desk.fill(lambda: pytest.fail("claimed again"), gave_back.set) or desk.take())

    other = threading.Thread(target=late)

    def claim() -> list[Case]:
        other.start()
        assert gave_back.wait(60), "it gives its connection back before it waits"
        return made

    assert desk.fill(claim, nothing) is made[0]
    other.join(60)
    assert found == [made[1]]


def test_a_claim_takes_a_case_for_every_third_thread_and_never_less_than_a_handful() -> None:
    desk = Desk()
    assert desk.handful(4) == 4
    with desk.seat(), desk.seat():
        assert (desk.seats, desk.handful(4)) == (2, 4)
        desk._seats = 50
        assert desk.handful(4) == 16
        desk._seats = 2
    assert desk.seats == 0


def test_who_works_alone_shares_with_nobody() -> None:
    alone = local_queue.desk_here("a queue of this test")
    assert alone is not local_queue.desk_of_queue("a queue of this test")
    with local_queue.desk_of_queue("a queue of this test").seat():
        assert local_queue.desk_here("a queue of this test") is local_queue.desk_of_queue(
            "a queue of this test"
        )
