"""Who may run next."""

import threading
import time
from collections.abc import Callable

from hypothesis import given, settings
from hypothesis import strategies as st

from sandbox.backends.queue import Queue


def _waits(condition: Callable[[], bool]) -> None:
    while not condition():
        time.sleep(0.001)


@settings(max_examples=10, deadline=None)
@given(places=st.integers(1, 4), callers=st.integers(1, 8))
def test_who_came_first_goes_first(places: int, callers: int) -> None:
    queue, order = Queue(places), []
    for _ in range(places):
        queue.waited()

    def takes(number: int) -> None:
        queue.waited()
        order.append(number)

    threads = [threading.Thread(target=takes, args=(number,)) for number in range(callers)]
    for number, thread in enumerate(threads):
        thread.start()
        _waits(lambda number=number: len(queue._waiting) == number + 1)  # type: ignore[misc]
    for number in range(callers):
        # Who comes now must not overtake.
        queue.leave()
        _waits(lambda number=number: len(order) == number + 1)  # type: ignore[misc]
    assert order == list(range(callers))


def test_no_more_than_its_places_are_taken_at_once() -> None:
    queue, lock, inside, most = Queue(3), threading.Lock(), 0, 0

    def takes() -> None:
        nonlocal inside, most
        for _ in range(50):
            queue.waited()
            with lock:
                inside += 1
                most = max(most, inside)
            time.sleep(0.0001)
            with lock:
                inside -= 1
            queue.leave()

    threads = [threading.Thread(target=takes) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most == 3


def test_waiting_is_told_apart() -> None:
    queue, waited = Queue(1), list[float]()
    began = time.monotonic()
    took = queue.waited()
    assert took <= time.monotonic() - began
    thread = threading.Thread(target=lambda: waited.append(queue.waited()))
    thread.start()
    _waits(lambda: len(queue._waiting) == 1)
    time.sleep(0.1)
    queue.leave()
    thread.join()
    assert waited[0] >= 0.1
