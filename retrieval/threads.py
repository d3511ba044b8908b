"""Work on arrays spread over the processor's cores: NumPy lets others run while it copies and multiplies."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from itertools import islice
from typing import TypeVar

A = TypeVar("A")
B = TypeVar("B")


def cores() -> int:
    """How many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@cache
def _pool() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(cores(), thread_name_prefix="arrays")


def spread(work: Callable[[A], B], parts: Iterable[A]) -> Iterator[B]:
    """`work` of each part, in order, a few parts ahead of what is taken. `work` must not call `spread`."""
    waiting = iter(parts)
    running = [_pool().submit(work, part) for part in islice(waiting, 2 * cores())]
    while running:
        yield running.pop(0).result()
        running += [_pool().submit(work, part) for part in islice(waiting, 1)]
