"""Work beside other work: arrays and tensors spread over the cores, and what is read ahead."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from functools import cache
from itertools import islice
from queue import Empty, Full, Queue
from threading import Event, Thread
from typing import TypeVar

A = TypeVar("A")
B = TypeVar("B")


def count_usable_cores() -> int:
    """How many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@cache
def _pool() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(count_usable_cores(), thread_name_prefix="arrays")


def spread_over_cores(work: Callable[[A], B], parts: Iterable[A]) -> Iterator[B]:
    """`work` of each part, in order, a few parts ahead of what is taken. `work` must not call
    `spread_over_cores`."""
    waiting = iter(parts)
    running = [_pool().submit(work, part) for part in islice(waiting, 2 * count_usable_cores())]
    while running:
        yield running.pop(0).result()
        running += [_pool().submit(work, part) for part in islice(waiting, 1)]


def side_by_side(work: Callable[[A], B], parts: Sequence[A], device: str) -> Generator[B]:
    """torch's `work` of each part, in order; on a processor in as many threads as it has, each one of them.

    A part for each core takes less time than each part on all cores. Those that have not begun
    never do, where one raises or the iterator is closed.
    """
    import torch

    threads = torch.get_num_threads()
    if device != "cpu" or threads == 1 or len(parts) == 1:
        yield from map(work, parts)
        return
    pool = ThreadPoolExecutor(threads, "tensors", torch.set_num_threads, (1,))
    try:
        yield from pool.map(work, parts)
    finally:
        pool.shutdown(cancel_futures=True)
        torch.set_num_threads(threads)


def prefetch_parts(parts: Iterator[A], most: int = 3) -> Iterator[A]:
    """`parts`, up to `most` of them made by a thread while the caller works (waits for a database, say).

    What making one raises is raised here in its turn. The thread ends with the iterator.
    """
    made, stopped, ended = Queue[A](most), Event(), list[BaseException | None]()
    run = copy_context().run  # what is metered here is metered there
    maker = Thread(target=run, args=(_make, parts, made, stopped, ended), name="ahead", daemon=True)
    maker.start()
    try:
        while not (ended and made.empty()):
            try:
                yield made.get(timeout=0.1)
            except Empty:
                continue
        if ended[0] is not None:
            raise ended[0]
    finally:
        stopped.set()
        maker.join()


def _make(parts: Iterator[A], made: Queue[A], stopped: Event, ended: list[BaseException | None]) -> None:
    try:
        for part in parts:
            while not stopped.is_set():
                try:
                    made.put(part, timeout=0.1)
                    break
                except Full:
                    continue
            if stopped.is_set():
                break
    except BaseException as error:  # raised again by whoever takes the parts
        ended.append(error)
    else:
        ended.append(None)
