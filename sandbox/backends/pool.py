"""Things that take long to make, made ahead: each is used once."""

import os
import threading
import time
from collections import deque
from collections.abc import Callable, Hashable
from concurrent.futures import ThreadPoolExecutor
from typing import Generic, Protocol, TypeVar

_MAKERS = 2
_WAITING_SECONDS = 600.0


class Pooled(Protocol):
    """Something that waits for its use; `alive` says whether it still can be used."""

    def alive(self) -> bool: ...


Shape = TypeVar("Shape", bound=Hashable)
Thing = TypeVar("Thing", bound=Pooled)


class Pool(Generic[Shape, Thing]):
    """Keeps at most `size` things waiting, of the shape that was asked for last; one start for each core.

    `make` and `discard` are called from several threads. What `make` raises reaches whoever takes, but for
    `excused` errors of what is made ahead: the next one who takes sees whether they last.
    """

    def __init__(
        self,
        size: int,
        make: Callable[[Shape], Thing],
        discard: Callable[[Thing], None],
        excused: tuple[type[Exception], ...],
    ) -> None:
        self._size, self._make, self._discard, self._excused = size, make, discard, excused
        self._ready: deque[tuple[Shape, float, Thing]] = deque()
        self._making, self._closed = 0, False
        self._lock = threading.Lock()
        self._starts = threading.Semaphore(os.cpu_count() or 1)
        self._workers = ThreadPoolExecutor(_MAKERS, thread_name_prefix="cosqa-sandbox-pool")

    @property
    def closed(self) -> bool:
        """Whether `close` was called."""
        return self._closed

    @property
    def waiting(self) -> int:
        """How many wait now."""
        return len(self._ready)

    def take(self, shape: Shape, fresh: bool = False) -> Thing:
        """One that waits, or with `fresh` a new one; others are made ready meanwhile."""
        found = None if fresh else self._usable(shape)
        for _ in range(self._size - len(self._ready)):
            self._later(self._refill, shape)
        return found or self._made(shape)

    def discard(self, thing: Thing) -> None:
        """Get rid of a used one, soon."""
        self._later(self._discard, thing)

    def close(self) -> None:
        """Discard what waits; what was taken is discarded at once by `discard`."""
        with self._lock:
            self._closed = True
        self._workers.shutdown(wait=True)
        while self._ready:
            self._discard(self._ready.popleft()[2])

    def _usable(self, shape: Shape) -> Thing | None:
        while True:
            with self._lock:
                if not self._ready:
                    return None
                made_for, born, thing = self._ready.popleft()
            if made_for == shape and time.monotonic() - born < _WAITING_SECONDS and thing.alive():
                return thing
            self.discard(thing)

    def _refill(self, shape: Shape) -> None:
        with self._lock:
            if self._closed or len(self._ready) + self._making >= self._size:
                return
            self._making += 1
        made: list[Thing] = []
        try:
            made.append(self._made(shape))
        except self._excused:
            return
        finally:
            with self._lock:
                self._making -= 1
                self._ready.extend((shape, time.monotonic(), thing) for thing in made)

    def _made(self, shape: Shape) -> Thing:
        with self._starts:
            return self._make(shape)

    def _later(self, action: Callable[..., None], *values: object) -> None:
        try:
            self._workers.submit(action, *values)
        except RuntimeError:
            # The workers were shut down by close(): do it now.
            action(*values)
