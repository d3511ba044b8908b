"""What the instrumented program holds of the recorder: doors that lead nowhere else, and its blocks."""

from __future__ import annotations

import posix
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from sandbox.harness.guards.judges import Judges

# Taken before the program runs.
_frame, _leave = sys._getframe, posix._exit


def leave_astray() -> None:
    """End a child that the candidate forked, before it learns whether an assertion holds."""
    _leave(70)


class Evaluation:
    """Of one assertion, as it goes on. `begun`: how many calls, and own words, there were before it.

    `key`: the frame that evaluates it, or the block that it is.
    """

    __slots__ = ("begun", "checked", "inner", "key", "made", "site", "thread", "values", "word")
    site: int
    key: int
    made: int
    begun: tuple[int, int]
    checked: list[int]
    values: list[object]
    inner: dict[int, list[object]]
    word: str
    thread: int


class AssertionBlock:
    """A block that is an assertion: it holds when it ends as it was told that it would."""

    def __init__(self, recorder: Any, judges: Judges, site: int, inner: Any) -> None:
        self._recorder, self._judges, self._site, self._inner = recorder, judges, site, inner
        self._begun: Evaluation | None = None

    def __enter__(self) -> Any:
        self._begun = self._recorder.begin(self._site, _frame(1), id(self))
        return self._inner.__enter__()

    def __exit__(self, kind: Any, error: Any, traceback: Any) -> Any:
        begun, leave = self._begun, self._recorder.leave
        assert begun is not None
        self._judges.look()  # they have to be what they were
        words = self._recorder.count_words()
        try:
            swallowed = self._inner.__exit__(kind, error, traceback)
        except self._judges.failures:
            leave(begun, id(self), False, error, words)
            raise
        leave(begun, id(self), True if error is None or swallowed else None, error, words)
        return swallowed


class Doors:
    """What the instrumented program holds of the recorder: each leads nowhere else."""

    __slots__ = ("begin", "block", "bound", "call", "context", "end", "keep", "operand", "value")

    def __init__(self, recorder: Any, hide: Callable[[Any], Any]) -> None:
        for name in self.__slots__:
            setattr(self, name, hide(getattr(recorder, name)))
