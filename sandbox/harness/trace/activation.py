"""One call of a function of the candidate, followed line by line."""

from __future__ import annotations

import _thread
import sys

from sandbox.harness.trace.identity import is_one_of, name_of, plain_text
from sandbox.harness.trace.values import render

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import CodeType, FrameType
    from typing import Any

    from sandbox.harness.trace.folding import Lane, Loop

# Of a code object: it is a generator's or coroutine's; it is a generator's.
SUSPENDABLE_FLAGS, _GENERATOR_FLAGS = 0x2A0, 0x220
_COMPREHENSIONS = frozenset({"<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>"})
_FIXED = (int, str, bytes, float, bool, complex, type(None))
_NOWHERE = _LAST_LINE = 1 << 30
_ENDS_OF_ITERATORS = ("StopIteration", "StopAsyncIteration", "GeneratorExit")
# Taken before the program runs.
_thread_number = _thread.get_ident
# The instruction's number; where it is another one, what a generator returned at its end is not told.
_YIELD_VALUE = 86 if sys.version_info < (3, 12) else -1


class Activation:
    """One call of a function of the candidate, also while it is suspended. It holds no frame and no value."""

    __slots__ = (
        *("_code", "_fixed", "_loops", "_place", "_raised", "_texts", "_tracer"),
        *("active", "call", "depth", "function", "lane", "looked", "loop", "owner", "running", "told"),
    )
    active: list[Activation]
    lane: Lane
    loop: Loop | None

    def __init__(self, tracer: Any, frame: FrameType, code: CodeType, depth: int) -> None:
        self._tracer, self._code, self.owner = tracer, code, id(code)
        self.function = plain_text(code.co_qualname)
        self.call, self.depth, self.told, self.running = 0, depth, False, True
        self.looked = False
        self._loops = tracer.loops_of(code)
        self._place = 0 if code.co_name in _COMPREHENSIONS else -1
        self._raised = ""
        self._texts: dict[str, str] = {}
        self._fixed: dict[str, object] = {}

    def event(self, frame: FrameType, event: str, argument: Any) -> Any:
        """The interpreter executes a line of the frame, leaves it, or raises in it."""
        tracer = self._tracer
        try:
            if tracer.over or not self.running or (tracer.quiet and _thread_number() in tracer.quiet):
                pass
            elif event == "line":
                self._raised = ""
                self._line(frame, frame.f_lineno)
            elif event == "return":
                self._left(frame, argument)
            elif event == "exception":
                self._raised = name_of(argument[0])
            elif event == "opcode":
                tracer.lines_left -= 1
                frame.f_trace_opcodes = self.looked = tracer.lines_left > 0
        except (RecursionError, MemoryError):
            tracer.book.truncated = True
        if self.looked:
            self.looked = False
            frame.f_locals  # noqa: B018 (see Tracer)
        return self.event

    def arguments(self, frame: FrameType) -> str:
        """What it was called with, as `x=1, y='a'`."""
        code, values, self.looked = self._code, frame.f_locals, True
        count = code.co_argcount + code.co_kwonlyargcount + sum(bool(code.co_flags & flag) for flag in (4, 8))
        parts, room = [], self._tracer.limit
        for name in code.co_varnames[:count]:
            if room > 0 and name in values and not name.startswith("."):
                parts.append(f"{name}={render(values[name], room, False)}")
                room -= len(parts[-1]) + 2
        text = ", ".join(parts)
        return text if len(text) <= self._tracer.limit else text[: self._tracer.limit - 1] + "…"

    def _line(self, frame: FrameType, line: int) -> None:
        tracer, lane = self._tracer, self.lane
        if not tracer.reaches(frame, line):
            return
        if lane.top.idle:
            lane.settle()
        if self._place >= 0:
            self._follow_comprehension(frame, line)
        elif lane.top.owner is self or line in self._loops:
            self._follow_loops(frame, line)
        if lane.is_new(line, self.function, self.depth, self.call):
            lane.step(line, self.function, self.depth, self._changed(frame), self.call)

    def _follow_loops(self, frame: FrameType, line: int) -> None:
        lane, top = self.lane, self.lane.top
        while top.owner is self and not top.first <= line <= top.last:
            self._leave_loop(frame)
            top = lane.top
        if top.owner is self and line == top.first:
            lane.next_pass()
        elif line in self._loops:
            lane.enter(self, (line, self._loops[line]), self.function, self.depth)

    def _follow_comprehension(self, frame: FrameType, line: int) -> None:
        # All of it is one loop, which goes back to the lowest instruction but the first.
        lane, place, before = self.lane, frame.f_lasti, self._place
        if before == 0:
            lane.enter(self, (line, _LAST_LINE), self.function, self.depth)
            self._place = _NOWHERE
        elif before == _NOWHERE:
            self._place = place
        if before != 0 and lane.top.owner is self and place <= self._place:
            if before != _NOWHERE or line == lane.top.first:
                lane.next_pass()
            self._place = place

    def _leave_loop(self, frame: FrameType) -> None:
        shown = self.lane.top.number
        looked = self._place >= 0 or self.lane.top.inside == 1
        self.lane.leave(self._changed(frame) if shown else [], bool(self._raised) or not looked)

    def _left(self, frame: FrameType, value: Any) -> None:
        self.running = False
        while self.active and self.active.pop() is not self:
            pass
        if not self.active:
            self._tracer.learn_value(value)
            self._tracer.left()
        lane = self.lane
        lane.settle()
        while lane.top is not self.loop and lane.top.owner is self:
            self._leave_loop(frame)
        if lane.top is self.loop and self.loop is not None:
            self.loop.idle = True
        suspendable = self._code.co_flags & SUSPENDABLE_FLAGS
        if suspendable and self._may_be_resumed(frame):
            self._tracer.suspend(frame, self)
        elif self.told:
            self._tell_end(value)

    def _may_be_resumed(self, frame: FrameType) -> bool:
        if _YIELD_VALUE < 0:
            return True
        return self._code.co_code[frame.f_lasti] == _YIELD_VALUE and not self._raised

    def _tell_end(self, value: Any) -> None:
        tracer, self.told = self._tracer, False
        if value is None and self._raised and self._raised not in _ENDS_OF_ITERATORS:
            tracer.book.send("returned", self.call, None, self._raised)
        elif not self._code.co_flags & _GENERATOR_FLAGS:
            tracer.book.send("returned", self.call, render(value, tracer.limit, False), None)

    def _changed(self, frame: FrameType) -> list[list[str]]:
        changed, texts, fixed, tracer = [], self._texts, self._fixed, self._tracer
        self.looked = True
        for name, value in frame.f_locals.items():
            kind = type(value)
            is_fixed = is_one_of(kind, _FIXED)
            if name.startswith(".") or (is_fixed and name in fixed and fixed[name] is value):
                continue
            text = render(value, tracer.limit, False)
            if is_fixed:
                fixed[name] = value
            if texts.get(name) != text:
                texts[name] = text
                changed.append([name, text])
                tracer.characters_left -= len(text)
        if tracer.characters_left < 0:
            tracer.book.spend(tracer.book.steps + 1)
        return changed
