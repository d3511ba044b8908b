"""Forward passes beside each other: a batch for each core takes less time than each batch on all cores."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

A = TypeVar("A")
B = TypeVar("B")


def side_by_side(work: Callable[[A], B], parts: Sequence[A], device: str) -> Generator[B]:
    """`work` of each part, in order; on a processor in as many threads as torch has, each with one of them.

    Those that have not begun never do, where one raises or the iterator is closed.
    """
    import torch

    threads = torch.get_num_threads()
    if device != "cpu" or threads == 1 or len(parts) == 1:
        yield from map(work, parts)
        return
    pool = ThreadPoolExecutor(threads, "encoding", torch.set_num_threads, (1,))
    try:
        yield from pool.map(work, parts)
    finally:
        pool.shutdown(cancel_futures=True)
        torch.set_num_threads(threads)
