"""Things made ahead: each is used once, never too many wait, none is left."""

import os
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

import pytest

from sandbox.backends.pool import Pool


class NotMade(Exception):
    """What `make` may raise."""


@dataclass(eq=False)
class Thing:
    """One that lives until it is discarded, or until somebody kills it."""

    shape: str
    dead: bool = False
    discarded: int = 0

    def alive(self) -> bool:
        return not self.dead


class Factory:
    """Makes things, slowly, and keeps all of them in mind."""

    def __init__(self, failures: int = 0) -> None:
        self.made: list[Thing] = []
        self.failures = failures
        self._making, self.most = 0, 0
        self._lock = threading.Lock()

    def make(self, shape: str) -> Thing:
        with self._lock:
            self._making += 1
            self.most = max(self.most, self._making)
        time.sleep(0.005)
        with self._lock:
            self._making -= 1
            if self.failures:
                self.failures -= 1
                raise NotMade
            self.made.append(Thing(shape))
            return self.made[-1]

    def discard(self, thing: Thing) -> None:
        thing.discarded += 1


def _pool(factory: Factory, size: int = 2) -> Pool[str, Thing]:
    return Pool(size, factory.make, factory.discard, (NotMade,))


def _settles(condition: Callable[[], bool]) -> bool:
    deadline = time.monotonic() + 60
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.005)
    return condition()


@pytest.mark.parametrize("size", [0, 1, 3])
def test_under_load_each_is_used_once_and_no_more_than_its_size_wait(size: int) -> None:
    factory, taken, most = Factory(), [], 0
    pool = _pool(factory, size)

    def takes() -> None:
        nonlocal most
        for number in range(20):
            thing = pool.take("ab"[number % 5 == 0])
            most = max(most, pool.waiting)
            taken.append(thing)
            pool.discard(thing)

    threads = [threading.Thread(target=takes) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert _settles(lambda: pool.waiting == size) and most <= size
    pool.close()
    assert len({id(thing) for thing in taken}) == 160
    assert [thing.discarded for thing in factory.made] == [1] * len(factory.made)
    assert factory.most <= (os.cpu_count() or 1)


def test_one_that_died_while_it_waited_is_not_handed_out() -> None:
    factory = Factory()
    pool = _pool(factory)
    pool.take("a")
    assert _settles(lambda: pool.waiting == 2)
    for thing in factory.made:
        thing.dead = True
    assert not pool.take("a").dead
    pool.close()


def test_a_fresh_one_was_not_waiting() -> None:
    factory = Factory()
    pool = _pool(factory)
    pool.take("a")
    assert _settles(lambda: pool.waiting == 2)
    before = list(factory.made)
    assert pool.take("a", fresh=True) not in before
    pool.close()


def test_one_of_another_shape_is_discarded() -> None:
    factory = Factory()
    pool = _pool(factory)
    taken = pool.take("a")
    assert _settles(lambda: pool.waiting == 2)
    assert pool.take("b").shape == "b"
    pool.close()
    others = [thing for thing in factory.made if thing.shape == "a" and thing is not taken]
    assert [thing.discarded for thing in others] == [1] * len(others)


def test_what_cannot_be_made_reaches_who_takes_and_it_works_again_afterwards() -> None:
    factory = Factory(failures=1000)
    pool = _pool(factory)
    with pytest.raises(NotMade):
        pool.take("a")
    factory.failures = 0
    assert pool.take("a").shape == "a"
    assert _settles(lambda: pool.waiting == 2)
    pool.close()


def test_closing_leaves_nothing_and_what_was_taken_goes_when_it_is_given_back() -> None:
    factory = Factory()
    pool = _pool(factory)
    taken = pool.take("a")
    pool.close()
    assert pool.waiting == 0
    pool.discard(taken)
    assert [thing.discarded for thing in factory.made] == [1] * len(factory.made)
