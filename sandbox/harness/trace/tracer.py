"""Follows the candidate line by line and counts its calls; bounded by numbers alone, so that it repeats.

The program must not notice: values are shown without running code of its classes, no local outlives its time
by a reference from here, and an error in here stays in here.
"""

from __future__ import annotations

import _thread
import sys
from itertools import count

from sandbox.harness.doors import leave_astray
from sandbox.harness.opaque_callables import hide
from sandbox.harness.trace.activation import SUSPENDABLE_FLAGS, Activation
from sandbox.harness.trace.folding import Book, Lane
from sandbox.harness.trace.identity import plain_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import CodeType, FrameType
    from typing import Any

    from sandbox.harness.channel import Channel
    from sandbox.harness.guards.candidate_operations import Told

_MOST_LINES, _MOST_FOLLOWED, _MOST_CALLS = 1_000_000, 120_000, 300_000
_MOST_CHARACTERS = 1_000_000
_MOST_CALLS_TOLD, _MOST_CALLS_CHECKED, _MOST_FRAMES, _MOST_SUSPENDED = 200, 8, 50, 1000
_MOST_WORDS_OF_A_LINE = 20
# Of a code object: it is a function's, not a module's or class's body.
_FUNCTION_FLAG = 0x1
# Who uses one of these notices when a local is let go: then the copy is renewed before each instruction.
_FINALIZERS = ("__del__", "weakref", "getrefcount")
# Taken before the program runs.
_gettrace, _settrace, _thread_number = sys.gettrace, sys.settrace, _thread.get_ident


def _loops_by_function(loops: list[tuple[int, int, int]]) -> dict[int, dict[int, int]]:
    """By the first line of a function: by the first line of each of its loops the last one."""
    found: dict[int, dict[int, int]] = {}
    for function, first, last in loops:
        found.setdefault(function, {})[first] = last
    return found


class Tracer:
    """Steps are sent as they come, folded; coverage goes on for longer; then tracing ends and says so.

    `words` are the candidate's own, in the order in which they were given, and by line of the program.

    The interpreter writes a frame's locals back from the copy that was looked at, once the trace function has
    ended. Meanwhile another thread may have changed them, so the copy is renewed by looking once more, last
    and with no call after it. The copy keeps what it holds alive: see `_FINALIZERS`.
    """

    def __init__(
        self,
        channel: Channel,
        filenames: tuple[str, str],
        limits: dict[str, Any],
        request: dict[str, Any],
        names: dict[str, Any],
    ) -> None:
        lines = request["trace"]
        self._ask_nobody()
        # The namespace of the code that runs the program: below it there is no frame of the program.
        self.floor: dict[str, Any] | None = None
        self._missed = [False]
        # What the interpreter is given: `sys.gettrace()` leads nowhere.
        self.function = _trace_function(hide(self._dispatch), names, self._missed)
        # Of the two counts one byte for each call: threads that add one at a time lose none.
        self._calls, self._made, self._numbers = bytearray(), bytearray(), count(1)
        # How often a function of the candidate was entered or resumed, and how many calls came from outside.
        self.count_calls, self.count_made = self._calls.__len__, self._made.__len__
        self.reached: set[int] = set()
        self.called_from: dict[int, int] = {}
        # By the frame that evaluates an assertion: the calls made for it.
        self.checking: dict[int, list[int]] = {}
        self.incomplete = not lines
        self.following = lines
        self.book = Book(channel, limits["trace_steps"] if lines else 0)
        self.limit = limits["value_chars"]
        self.lines_left, self.characters_left = _MOST_LINES if lines else 0, _MOST_CHARACTERS
        self.quiet: set[int] = set()
        # Threads in a call of the candidate that is not followed.
        self._within: set[int] = set()
        self.over = False
        self._candidate, self._program = filenames
        self._loops = _loops_by_function(request["loops"])
        self._lanes: dict[int, Lane] = {}
        self._active: dict[int, list[Activation]] = {}
        self._suspended: dict[int, Activation] = {}
        self._begins: dict[int, int] = {}
        texts = request["candidate"] + request["source"]
        self._finalizers = any(word in texts for word in _FINALIZERS)

    def _ask_nobody(self) -> None:
        # Both are asked for by the outermost call of the candidate: before it begins, and when it has ended.
        self.entered: Callable[[FrameType], Any] = _no_word
        self.left: Callable[[], None] = _nothing
        # Of each call, not only of the outermost ones.
        self.look_at_call: Callable[[FrameType], None] | None = None
        # Of an outermost call: the candidate's own word if it is an operation of a class, else nothing.
        self.word_of: Callable[[FrameType], Told | None] = _no_word
        self.words: list[Told] = []
        self.words_by_line: dict[int, list[Told]] = {}
        # Both hear of what an outermost call gave: the first where it was an operation, with its word.
        self.learn_returned: Callable[[object], None] = _no_word
        self.learn_result: Callable[[Told, object], None]
        self._telling: dict[int, Told] = {}

    @property
    def truncated(self) -> bool:
        """Whether steps were left out."""
        return self.book.truncated or self._missed[0] or (self.following and self.over)

    def resume(self) -> None:
        """Start, or start again: the interpreter drops a tracer in which the recursion limit was hit."""
        if not self.over and _gettrace() is None:
            thread = _thread_number()
            self._within.discard(thread)
            if self._active.pop(thread, None):
                self._lanes[thread].unwind()
            _settrace(self.function)

    def accept_no_more(self) -> None:
        """The next outermost call ends the process: a child that the candidate forked went on by itself."""
        self.entered = _leave

    def start_anew(self, steps: int) -> None:
        """Go on in a fork, with a trace of its own; calls and lines count on."""
        self.book.renew(steps)
        self._lanes, self._active, self._within = {}, {}, set()
        self.resume()

    def paused(self) -> Tracer:
        """A `with` block in which calls of the candidate do not count: the recorder looks at a value."""
        return self

    def __enter__(self) -> None:
        self.quiet.add(_thread_number())

    def __exit__(self, *error: object) -> None:
        self.quiet.discard(_thread_number())

    def finish(self) -> str:
        """Stop in this thread; what the program put in the tracer's place, or nothing."""
        found = _gettrace()
        _settrace(None)
        foreign = found is not None and found is not self.function
        # Where the recursion limit was met, a frame was not followed, or the tracer was dropped.
        if (found is None and not self.over) or self._missed[0]:
            self.incomplete = True
        return "replaced the trace function" if foreign else ""

    def close(self) -> None:
        """Stop everywhere and send what is not sent yet."""
        stopped, self.over = self.over, True
        for lane in self._lanes.values():
            lane.close()
        self.over = stopped

    def _dispatch(self, frame: FrameType) -> Any:
        """The interpreter enters a frame of the run's namespace."""
        code = frame.f_code
        file = code.co_filename
        if self.over or (file is not self._candidate and plain_text(file) != self._candidate):
            return None
        try:
            return self._entered(frame, code)
        except (RecursionError, MemoryError):
            self.book.truncated = True
            return None

    def _entered(self, frame: FrameType, code: CodeType) -> Any:
        thread = _thread_number()
        if thread in self.quiet:
            return None
        if not code.co_flags & _FUNCTION_FLAG:
            return self._cover if self.lines_left > 0 else None
        self._calls.append(0)
        if self.look_at_call is not None:
            self.look_at_call(frame)
        if len(self._calls) > _MOST_FOLLOWED:
            self._follow_no_more()
            if self.over:
                return None
        if self.following:
            return self._activation(frame, code, thread).event
        if self.word_of is not _no_word:
            self._note_word(frame)
        if thread in self._within or self._active.get(thread):
            return None
        # Of what is not followed, it is told when the outermost call begins and ends all the same.
        self._within.add(thread)
        self.entered(frame)
        frame.f_trace_lines = False
        return self._leaving

    def _follow_no_more(self) -> None:
        if len(self._calls) > _MOST_CALLS:
            self.over = self.incomplete = True
            _settrace(None)
        elif self.following:
            self.following, self.incomplete, self.book.truncated = False, True, True

    def _leaving(self, frame: FrameType, event: str, argument: Any) -> Any:
        if event == "return":
            self._within.discard(_thread_number())
            self.learn_value(argument)
            self.left()
        return self._leaving

    def _activation(self, frame: FrameType, code: CodeType, thread: int) -> Activation:
        active = self._active.get(thread)
        if active is None:
            active = self._active[thread] = []
            self._lanes.setdefault(thread, Lane(self.book, len(self._lanes)))
        activation = None
        if code.co_flags & SUSPENDABLE_FLAGS:
            suspended = self._suspended.pop(id(frame), None)
            activation = None if self._begins_here(frame, code) else suspended
        if activation is None:
            activation = Activation(self, frame, code, len(active))
            activation.call = active[-1].call if active else self._numbered(frame, activation)
            if not active:
                self._note_word(frame)
                activation.looked = True
            if code.co_flags & SUSPENDABLE_FLAGS:
                activation.owner = hash((id(code), activation.call))
        if self._finalizers:
            frame.f_trace_opcodes = True
        if not active:
            self.entered(frame)
            self._note(activation.call, frame)
        lane = self._lanes[thread]
        activation.lane, activation.active, activation.running = lane, active, True
        activation.depth = len(active)
        activation.loop = lane.call(activation.owner, code.co_firstlineno, activation.function, len(active))
        active.append(activation)
        if activation.looked:
            activation.looked = False
            frame.f_locals  # noqa: B018 (see Tracer)
        return activation

    def _begins_here(self, frame: FrameType, code: CodeType) -> bool:
        # A generator is resumed at a later place than it begins at.
        place = self._begins.setdefault(id(code), frame.f_lasti)
        if frame.f_lasti < place:
            self._begins[id(code)] = frame.f_lasti
        return frame.f_lasti <= place

    def _numbered(self, frame: FrameType, activation: Activation) -> int:
        number = next(self._numbers)
        self._made.append(0)
        if number <= _MOST_CALLS_TOLD:
            activation.told = True
            arguments = activation.arguments(frame)
            line = next((one.f_lineno for one in self.program_frames(frame)), 0)
            self.book.send("call", number, activation.function, line, arguments)
        return number

    def _note_word(self, frame: FrameType) -> None:
        told = self.word_of(frame)
        if told is not None:
            self.words.append(told)
            if told.heard:
                self._telling[_thread_number()] = told
            for caller in self.program_frames(frame):
                noted = self.words_by_line.setdefault(caller.f_lineno, [])
                if len(noted) < _MOST_WORDS_OF_A_LINE or told.word > noted[-1].word:
                    noted.append(told)

    def learn_value(self, value: object) -> None:
        """An outermost call has ended, and gave this."""
        if self.word_of is _no_word:
            return
        told = self._telling.pop(_thread_number(), None) if self._telling else None
        if told is not None:
            self.learn_result(told, value)
        self.learn_returned(value)

    def _note(self, call: int, frame: FrameType) -> None:
        for caller in self.program_frames(frame):
            self.called_from[caller.f_lineno] = call
            checking = self.checking.get(id(caller))
            if checking is not None and call not in checking and len(checking) < _MOST_CALLS_CHECKED:
                checking.append(call)

    def program_frames(self, frame: FrameType) -> Any:
        """The frames of the program that are being executed, innermost first."""
        caller, floor = frame.f_back, self.floor
        for _ in range(_MOST_FRAMES):
            if caller is None or caller.f_globals is floor:
                return
            if plain_text(caller.f_code.co_filename) == self._program:
                yield caller
            caller = caller.f_back

    def suspend(self, frame: FrameType, activation: Activation) -> None:
        """Remember a generator or coroutine that may be resumed; of very many, those suspended last."""
        if len(self._suspended) >= _MOST_SUSPENDED:
            del self._suspended[next(iter(self._suspended))]
        self._suspended[id(frame)] = activation

    def loops_of(self, code: CodeType) -> dict[int, int]:
        """The last line of each loop by its first, of a function."""
        return self._loops.get(code.co_firstlineno, {})

    def reaches(self, frame: FrameType, line: int) -> bool:
        """Note a line; False once there are too many of them to go on."""
        self.reached.add(line)
        self.lines_left -= 1
        if self.lines_left > 0:
            return True
        self.incomplete = self.book.truncated = True
        self.following = False
        frame.f_trace_lines = False
        return False

    def _cover(self, frame: FrameType, event: str, argument: Any) -> Any:
        if event == "line":
            self.reaches(frame, frame.f_lineno)
        return self._cover


def _trace_function(dispatch: Any, names: dict[str, Any], missed: list[bool]) -> Any:
    """A plain function that asks `dispatch` about frames of the namespace; nothing that it has leads on."""
    errors = RecursionError, MemoryError

    def function(frame: FrameType, event: str, argument: Any) -> Any:
        # Asking every frame of a library for its code would take longer.
        if frame.f_globals is not names:
            return None
        try:
            return dispatch(frame)
        except errors:
            missed[0] = True
            return None

    kind: Any = type(function)
    return kind(function.__code__, {"__builtins__": {}}, "function", None, function.__closure__)


def _leave(_: object) -> None:
    leave_astray()


def _nothing() -> None:
    """Nobody asks."""


def _no_word(_: object) -> None:
    """Nobody asks."""


def executable_lines(code: CodeType) -> set[int]:
    """The lines that hold code, in a module and everything defined in it."""
    lines = {line for _, _, line in code.co_lines() if line}
    for constant in code.co_consts:
        if isinstance(constant, type(code)):
            lines |= executable_lines(constant)
    return lines
