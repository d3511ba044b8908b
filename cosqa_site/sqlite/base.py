"""The backend by the name that Django looks for: transactions of one process's threads queue for the file.

SQLite lets one writer in at a time and has the others look again after pauses that grow to 100 ms: of twenty
people who rate at once some would wait for seconds while others overtake them. A lock of the process wakes
the next at once. Other processes, and writes outside of transactions, wait as SQLite has them wait.
"""

from __future__ import annotations

import os
import threading
from collections import defaultdict
from typing import Any, Final

from django.db.backends.sqlite3 import base

PATIENCE_SECONDS: Final = 30.0
"""As long as SQLite itself is told to wait; whoever has waited so long asks SQLite, which says what is up."""

_turns: defaultdict[str, threading.Lock] = defaultdict(threading.Lock)
os.register_at_fork(after_in_child=_turns.clear)  # the threads that have a turn are not in the child


class DatabaseWrapper(base.DatabaseWrapper):
    """A connection that holds its file's turn from the beginning of a transaction to its end."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._turn: threading.Lock | None = None

    def _start_transaction_under_autocommit(self) -> None:
        turn = _turns[str(self.settings_dict["NAME"])]
        if turn.acquire(timeout=PATIENCE_SECONDS):
            self._turn = turn
        try:
            super()._start_transaction_under_autocommit()  # type: ignore[misc]  # the stubs lack what is Django's own
        except BaseException:
            self._give_turn_up()
            raise

    def _commit(self) -> None:
        super()._commit()  # type: ignore[misc]  # where it fails, a rollback follows
        self._give_turn_up()

    def _rollback(self) -> None:
        try:
            super()._rollback()  # type: ignore[misc]
        finally:
            self._give_turn_up()

    def _close(self) -> None:
        try:
            super()._close()  # type: ignore[misc]
        finally:
            self._give_turn_up()

    def _give_turn_up(self) -> None:
        turn, self._turn = self._turn, None
        if turn is not None:
            turn.release()
