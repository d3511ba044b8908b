"""Who may run next: the one that has waited longest."""

import os
import threading
import time
from collections import deque


class Queue:
    """Bounds the runs that are under way at the same time; time spent waiting here is no run time.

    First come, first served: a semaphore lets whoever arrives at the right moment overtake.
    """

    def __init__(self, concurrency: int) -> None:
        self._free = concurrency or os.cpu_count() or 1
        self._waiting: deque[threading.Event] = deque()
        self._lock = threading.Lock()

    def waited(self) -> float:
        """Take a place; the seconds that it took."""
        started = time.monotonic()
        turn = self._turn()
        try:
            turn.wait()
        except BaseException:
            self._give_up(turn)
            raise
        return time.monotonic() - started

    def leave(self) -> None:
        """Give the place back."""
        with self._lock:
            if self._waiting:
                self._waiting.popleft().set()
            else:
                self._free += 1

    def _turn(self) -> threading.Event:
        turn = threading.Event()
        with self._lock:
            if self._free:
                self._free -= 1
                turn.set()
            else:
                self._waiting.append(turn)
        return turn

    def _give_up(self, turn: threading.Event) -> None:
        with self._lock:
            if turn in self._waiting:
                self._waiting.remove(turn)
                return
        self.leave()
