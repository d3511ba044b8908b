"""Folds a trace while it grows: of what repeats, the first passes are sent and the others are counted.

A thread's trace is a nest of loops. Each place in it has a key made of all that led there within its pass, so
that passes which take the same way have the same keys. A step is sent while its key has been sent less than
ALIKE times; later ones are held back, and sent after all (without values) when their pass leaves the known
ways. Memory is bounded by the number of steps that may be sent.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from sandbox.harness.channel import Channel

ALIKE = 10
_DEEPEST = 25
_FIRST_COUNT_TOLD = 1024
_END, _LOOP, _REPEATED = 0, -1, -2


class Book:
    """What all threads share: how many steps may still be sent, and how often each key was."""

    def __init__(self, channel: Channel, steps: int) -> None:
        self.send, self.steps, self.truncated = channel.send, steps, False
        self.known: dict[int, int] = {}
        self._loops = 0

    def renew(self, steps: int) -> None:
        """Begin again, in a fork: nothing is known, and that many steps may be sent."""
        self.steps, self.known, self._loops = steps, {}, 0

    def number(self) -> int:
        """A number for a loop that is sent."""
        self._loops += 1
        return self._loops

    def spend(self, steps: int) -> bool:
        """Take from the steps that may be sent; what there is no room for is left out, and that is noted."""
        if self.steps < steps:
            self.steps, self.truncated = 0, True
            return False
        self.steps -= steps
        return True


class Loop:
    """A loop that is being executed, or (`repeated`) a function that is entered again and again.

    `owner` tells whose it is: the activation, or a number that stands for the function. A repeated function
    is `idle` while it is not known whether it will be entered again. `inside` counts the steps of this pass.
    """

    __slots__ = (
        *("depth", "first", "function", "held", "idle", "inside", "key", "last", "number", "owner"),
        *("passes", "repeated", "shown", "start", "tell_at", "unsent", "ways"),
    )

    def __init__(self, owner: object, lines: tuple[int, int], function: str, depth: int, start: int) -> None:
        self.owner, (self.first, self.last), self.function, self.depth = owner, lines, function, depth
        self.start = self.key = start
        self.repeated = self.idle = False
        self.number = self.passes = self.inside = 0
        self.unsent = True
        self.held: list[tuple[Any, ...]] = []
        self.shown: list[list[int]] = []
        self.ways: dict[int, list[int]] = {}
        self.tell_at = _FIRST_COUNT_TOLD


class Lane:
    """One thread's trace: `top` is the innermost of the loops that are being executed."""

    def __init__(self, book: Book, number: int) -> None:
        self.book, self.number = book, number
        self._root = self.top = Loop(None, (0, 0), "", 0, 0)
        self._root.unsent = False
        self._open = [self._root]
        self._told: dict[object, Loop] = {}

    def is_new(self, line: int, function: str, depth: int, call: int) -> bool:
        """Note a step; says whether it is to be sent, by `step`."""
        top, book = self.top, self.book
        top.key = key = hash((top.key, line))
        top.inside += 1
        seen = book.known.get(key, 0)
        if seen >= ALIKE:
            top.held.append(("step", self.number, line, function, depth, [], call))
            return False
        if book.steps <= 0:
            book.truncated = True
            return False
        book.known[key] = seen + 1
        return True

    def step(self, line: int, function: str, depth: int, changed: list[list[str]], call: int) -> None:
        """Send a step, after what was held back before it."""
        self._flush()
        if self.book.spend(1):
            self._send("step", line, function, depth, changed, call)

    def enter(self, owner: object, lines: tuple[int, int], function: str, depth: int) -> None:
        """A loop begins with its first pass."""
        if len(self._open) <= _DEEPEST:
            self._begin(Loop(owner, lines, function, depth, hash((self.top.key, lines[0], _LOOP))))

    def call(self, owner: int, line: int, function: str, depth: int) -> Loop | None:
        """A function is entered or resumed; if it was the last thing here too, this is its next pass."""
        top = self.top
        if top.idle and top.owner == owner:
            top.idle = False
            self.next_pass()
            return top
        self.settle()
        if len(self._open) > _DEEPEST:
            return None
        loop = Loop(owner, (line, line), function, depth, hash((self.top.key, line, _REPEATED)))
        loop.repeated = True
        self._begin(loop)
        return loop

    def settle(self) -> None:
        """Something else comes: a repeated function is not entered again."""
        while self.top.idle:
            self.leave([])

    def next_pass(self) -> None:
        """The innermost loop begins another pass."""
        loop = self.top
        if loop.passes:
            self._end_pass(loop)
        loop.passes += 1
        loop.key, loop.inside, loop.unsent = loop.start, 0, True
        if loop.number and loop.passes >= loop.tell_at:
            loop.tell_at *= 2
            self._send("more", loop.number, loop.passes, loop.shown)

    def leave(self, changed: list[list[str]], whole: bool = True) -> None:
        """The innermost loop ends; unless `whole`, its last pass only looked for another."""
        loop = self.top
        if loop.passes > 1 and not whole:
            loop.passes -= 1
            loop.held.clear()
        else:
            self._end_pass(loop)
        self._open.pop()
        self.top = parent = self._open[-1]
        if loop.number:
            self._send("done", loop.number, loop.passes, loop.shown, changed)
        if parent is not self._root:
            parent.key = loop.start
            if not loop.number:
                parent.held.append(("folded", self.number, *_facts(loop), loop.passes))
        elif loop.number:
            self._told[loop.owner] = loop
        elif loop.owner in self._told:
            self._told[loop.owner].passes += loop.passes

    def unwind(self) -> None:
        """All loops were left without a word: the interpreter had dropped the tracer."""
        while self.top is not self._root:
            self.leave([])

    def close(self) -> None:
        """The thread's trace ends here."""
        self.unwind()
        for loop in self._told.values():
            self._send("more", loop.number, loop.passes, loop.shown)

    def _begin(self, loop: Loop) -> None:
        self._open.append(loop)
        self.top = loop
        self.next_pass()

    def _end_pass(self, loop: Loop) -> None:
        known, way = self.book.known, hash((loop.key, _END))
        if loop.unsent:
            if known.get(way, 0) >= ALIKE or self.book.steps <= 0:
                if way in loop.ways:
                    loop.ways[way][1] += 1
                loop.held.clear()
                return
            # A known beginning with a new end.
            self._flush()
        known[way] = known.get(way, 0) + 1
        loop.ways[way] = [loop.passes, 1]
        loop.shown.append(loop.ways[way])

    def _flush(self) -> None:
        for loop in self._open:
            if loop.unsent:
                if not loop.number:
                    loop.number = self.book.number()
                    self._send("loop", loop.number, *_facts(loop))
                self._send("pass", loop.number, loop.passes)
                loop.unsent = False
            if loop.held:
                if self.book.spend(len(loop.held)):
                    for record in loop.held:
                        self.book.send(*record)
                loop.held.clear()

    def _send(self, kind: str, *values: Any) -> None:
        self.book.send(kind, self.number, *values)


def _facts(loop: Loop) -> tuple[int, str, int, bool]:
    return loop.first, loop.function, loop.depth, loop.repeated
