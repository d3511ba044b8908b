"""Whether candidate, program and built-in names are still what they were, asked with each assertion."""

from __future__ import annotations

import _operator
import _thread
import builtins
import sys

from sandbox.harness.code_objects import codes_in
from sandbox.harness.guards.candidate_parts import Part, find_parts
from sandbox.harness.guards.function_parts import FunctionParts
from sandbox.harness.guards.libraries import Libraries
from sandbox.harness.guards.library_data import registered_with

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import CodeType, FrameType
    from typing import Any

# Programs replace these to feed or silence the candidate.
_OFTEN_REPLACED = frozenset({"print", "input", "open", "_", "exit", "quit", "help", "__import__"})
_Function, _OPTIMIZED = type(lambda: 0), 1
_is, _get, _call = _operator.is_, dict.get, _operator.call
# How many threads there are beside the first one, while they run.
_threads, _thread_number = _thread._count, _thread.get_ident
# With one of these a candidate can change its own data without a statement that says so.
_BY_NAME = frozenset({"globals", "exec", "setattr", "vars", "__dict__", "__main__", "modules"})
# With one of these it can give an object another class, or a class other bases; or look into a frame.
_OF_KINDS = frozenset({"__class__", "__bases__", *_BY_NAME})
_OF_FRAMES = frozenset(
    {
        *("getattr", "attrgetter", "__getattribute__", "exec", "eval", "vars", "format", "format_map"),
        *("getmembers", "getattr_static"),
    }
)
_bases, _mro = type.__dict__["__bases__"].__get__, type.__dict__["__mro__"].__get__
_Frame = type(sys._getframe())
_MOST_MODULES = 50
_CHANGES_LIBRARY = "changes a module that the program uses"


_built_ins: dict[str, object] = {}


def keep_built_ins() -> None:
    """From now on all that is asked is whether they are the same as now."""
    _built_ins.update(vars(builtins))


class Usual:
    """What is asked with each assertion: as long as all answers are the same objects, nothing has changed.

    `names` are asked of `askers`. Assertions stand in `codes` of `space`; in others there is more to look at.
    `recoded`: some function got other code, so that what is the same object may do something else.
    """

    __slots__ = ("answers", "askers", "codes", "names", "parts", "recoded", "space")

    def __init__(self, space: dict[str, Any]) -> None:
        self.space, self.recoded = space, False
        self.codes: set[int] = set()
        self.parts: list[Part] = []
        # No such answer: the first time all is looked at.
        self.askers: list[Any] = [space.get]
        self.names, self.answers = ["__builtins__"], list[object]([None])

    def expect(self, pairs: list[tuple[Callable[[str], object], str]]) -> None:
        """Ask for what is here now."""
        askers, names = [one for one, _ in pairs], [one for _, one in pairs]
        self.answers = [*map(_call, askers, names)]
        self.askers, self.names = askers, names


class Integrity:
    """Of one run. `tell(who, what)` hears the signs; `rebound`: something stood in the candidate's place.

    `may_look_at_frames`: the candidate hears signals, and has words to look into a frame without its names.
    `ran` counts the candidate's calls. `fixed` are names of the program that only someone else would change,
    `plain` its definitions that nothing decorates.
    """

    def __init__(
        self, names: dict[str, Any], candidate: str, tell: Callable[[str, str], None], ran: Callable[[], int]
    ) -> None:
        self.rebound = self.may_look_at_frames = False
        self._names, self._file, self._tell = names, candidate, tell
        self._builtins = _built_ins or dict(vars(builtins))
        self._built_in: Any = names["__builtins__"]
        self._codes: dict[int, CodeType] = {}
        self._tests: dict[str, CodeType] = {}
        self._asserting: set[int] = set()
        self._originals: dict[str, object] = {}
        self._after: dict[str, Any] = vars(builtins)
        self._used: dict[str, object] = {}
        self.usual = Usual(names)
        self._reads: frozenset[str] = frozenset()
        self._fixed: tuple[str, ...] = ()
        self._moving: frozenset[str] = frozenset()
        # By the threads in whose outermost call the candidate is: what there was when it began.
        self._before: dict[int, tuple[list[object], list[object], list[object]]] = {}
        self._changes_kinds = False
        self._spaces: list[dict[str, Any]] = []
        self._attributes: list[str] = []
        self._read: list[object] = []
        self._libraries: Libraries | None = None
        self._before_in_libraries: dict[int, list[object]] = {}
        self._parts = FunctionParts()
        self._before_in_parts: dict[int, Any] = {}
        self._mentioned: frozenset[str] = frozenset()

    def learn_program(
        self,
        codes: tuple[CodeType, ...],
        doors: object,
        plain: list[str],
        fixed: list[str],
        moving: list[str],
    ) -> None:
        """What the program is compiled to; its assertions hold `doors`."""
        self._fixed, self._moving = tuple(fixed), frozenset(moving)
        # Nobody but the harness has the code of the module, which it executes in no other namespace.
        self.usual.codes.update(map(id, codes))
        for code in codes:
            inner = codes_in(code)
            self._codes.update((id(one), one) for one in inner)
            self._learn_built_ins(inner)
            for name in plain:
                found = _code_at(code, name.split("."))
                if found is not None and _asserts(found, doors):
                    self._tests[name] = found
        self._asserting = {key for key, code in self._codes.items() if _asserts(code, doors)}

    def learn_candidate(self, code: CodeType, defined: list[str]) -> None:
        """What the candidate has defined."""
        inner = codes_in(code)
        self._learn_built_ins(inner)
        stored = {name for one in inner if one is not code for name in _stored(one)}
        used = {name for one in inner for name in one.co_names}
        by_name = not used.isdisjoint(_BY_NAME)
        self._mentioned = frozenset(used)
        self._changes_kinds = not used.isdisjoint(_OF_KINDS)
        self.may_look_at_frames = "signal" in used and not used.isdisjoint(_OF_FRAMES)
        self._reads = frozenset((used & self._builtins.keys()) - _OFTEN_REPLACED - set(defined))
        for name in defined:
            value = self._names.get(name)
            if value is not None and (callable(value) or not (name in stored or by_name)):
                self._originals[name] = value
                self.usual.parts += find_parts(value, self._file)
        self.usual.codes.update(key for key, one in self._codes.items() if one.co_flags & _OPTIMIZED)

    def _learn_built_ins(self, codes: list[CodeType]) -> None:
        names = {name for one in codes for name in one.co_names} & self._builtins.keys()
        self._used.update((name, self._builtins[name]) for name in names - _OFTEN_REPLACED)

    def is_test(self, code: Any) -> bool:
        """Whether a code object is one of the program's that have assertions."""
        return id(code) in self._asserting

    def exchanged(self, who: str) -> None:
        """A function of the candidate got another part; at its import the candidate may do that itself."""
        if who != "candidate" or self._originals:
            self.rebound = True

    def recoded(self) -> None:
        """A function gets other code, perhaps one of the tests."""
        self.usual.recoded = True

    def learn_modules(self, imports: list[str], candidate: CodeType) -> None:
        """What the program reads of its modules, as it is before the candidate runs."""
        named = {name for code in self._codes.values() for name in code.co_names}
        self._libraries = Libraries(imports, candidate, codes_in(candidate), named)
        waiting = [value for name in self._fixed if type(value := self._names.get(name)) is type(builtins)]
        for module in waiting:
            space = vars(module)
            if module is sys or len(waiting) > _MOST_MODULES:
                continue
            for name in sorted(named & space.keys()):
                if type(space[name]) is type(builtins) and space[name] not in waiting:
                    waiting.append(space[name])
                elif callable(space[name]):
                    self._spaces.append(space)
                    self._attributes.append(name)
        self._read = [*map(_get, self._spaces, self._attributes)]

    def left_module(self) -> None:
        """The candidate was imported."""
        self._look_at_modules(self._read)
        self._look_at_libraries()

    def entered(self, frame: FrameType) -> None:
        """The candidate is called."""
        if self._parts.has_any:
            self._before_in_parts[_thread_number()] = self._parts.entered(_given_to(frame), self._mentioned)
        read = [*map(_get, self._spaces, self._attributes)] if self._attributes else self._read
        values = [*map(self._names.get, self._fixed)]
        kinds = [*map(_kind_of, values)] if self._changes_kinds else []
        self._before[_thread_number()] = values, read, kinds
        if self._libraries is not None and self._libraries.can_change:
            self._before_in_libraries[_thread_number()] = self._libraries.entered()

    def look_for_frames(self, frame: FrameType) -> None:
        """A function of the candidate is called, perhaps by a signal: then it is given a frame."""
        if _reads_frame(frame):
            self._tell("candidate", "looks at stack frames")

    def left(self) -> None:
        """The candidate's call has ended."""
        began = self._before.pop(_thread_number(), None)
        if began is None:
            return
        if not all(map(_is, map(self._names.get, self._fixed), began[0])):
            self._look_at_names(began[0])
        elif began[2] and not all(map(_is, map(_kind_of, began[0]), began[2])):
            self._look_at_kinds(*began[::2])
        if self._attributes:
            self._look_at_modules(began[1])
        if self._before_in_parts:
            held = self._before_in_parts.pop(_thread_number(), None)
            # Beside other threads the program itself may have changed them.
            if held is not None and not _threads() and self._parts.is_changed(held):
                self._tell("candidate", "changes what functions of the program hold")
        if self._before_in_libraries:
            before = self._before_in_libraries.pop(_thread_number(), [])
            if self._libraries is not None and self._libraries.left(before):
                self._tell("candidate", _CHANGES_LIBRARY)

    def _look_at_libraries(self) -> None:
        if self._libraries is not None and self._libraries.is_changed():
            self._tell("candidate", _CHANGES_LIBRARY)

    def _look_at_modules(self, before: list[object]) -> None:
        if not all(map(_is, map(_get, self._spaces, self._attributes), before)):
            self._tell("candidate", _CHANGES_LIBRARY)

    def _look_at_names(self, began: list[object]) -> None:
        """A name is not what it was: beside other threads the program itself may have bound it meanwhile."""
        get, is_alone = self._names.get, not _threads()
        for name, before in zip(self._fixed, began, strict=True):
            if get(name) is not before and (is_alone or (before is not None and name not in self._moving)):
                self._tell("candidate", "changes names of the program")
                return

    def _look_at_kinds(self, values: list[object], kinds: list[object]) -> None:
        """What is of the candidate's own classes may become something else by itself."""
        own = {*map(id, self._originals.values())}
        for value, kind in zip(values, kinds, strict=True):
            bases = kind if type(kind) is tuple else _mro(kind)
            if _kind_of(value) is not kind and own.isdisjoint(map(id, bases)):
                self._tell("candidate", "changes classes of the program")

    def look(self, frame: FrameType) -> None:
        """An assertion is about to be evaluated in this frame."""
        names, code = self._names, frame.f_code
        if frame.f_globals is not names or id(code) not in self._codes:
            self._tell("program", "asserts in code or in a namespace that is not its own")
        elif not code.co_flags & _OPTIMIZED:
            self._look_at_block(frame.f_locals)
        self.look_again()
        if any(map(Part.is_changed, self.usual.parts)):
            self.rebound = True

    def look_again(self) -> None:
        """It was evaluated."""
        usual = self.usual
        if usual.recoded or not all(map(_is, map(_call, usual.askers, usual.names), usual.answers)):
            self._expect_usual()
            self.rebound = self.rebound or self.is_rebound()
            if self._names.get("__builtins__") is not self._built_in:
                self._tell("program", "exchanged its built-in names")
            self._look_at_shadows()
            self._look_at_builtins()
            self._look_at_tests()

    def finish(self) -> None:
        """The run has ended."""
        self.rebound = self.rebound or self.is_rebound()
        if self._libraries is not None and self._libraries.is_changed_for_good(self._codes.values()):
            self._tell("candidate", _CHANGES_LIBRARY)
        if any(map(self._is_registered_with, [*self._names.values()])):
            self._tell("candidate", "changes classes of the program")
        self._look_at_builtins()
        self._look_at_tests()

    def _is_registered_with(self, value: Any) -> bool:
        """Whether it is an abstract class of the program's that a built-in type was registered with."""
        return (
            isinstance(value, type)
            and value.__module__ == "__main__"
            and "_abc_impl" in vars(value)
            and not any(value is one for one in self._originals.values())
            and not any("register" in code.co_names for code in self._codes.values())
            and bool(registered_with(value))
        )

    def is_rebound(self) -> bool:
        """Whether a function, class or constant of the candidate was replaced, or a part of one.

        Who gives a function other code or defaults is heard of: see `exchanged`.
        """
        get = self._names.get
        return any(get(name) is not value for name, value in self._originals.items()) or any(
            map(Part.is_changed, self.usual.parts)
        )

    def _expect_usual(self) -> None:
        """From now on what is here is usual; if it shouldn't be, it is told of."""
        pairs: list[tuple[Any, str]] = [
            (self._names.get, name) for name in ("__builtins__", *self._originals, *self._reads)
        ]
        pairs += [(self._after.get, name) for name in self._used]
        for name in self._tests:
            owner, _, member = name.partition(".")
            value = self._names.get(owner)
            pairs.append((self._names.get, owner))
            if member and isinstance(value, type):
                pairs.append((vars(value).get, member))
        self.usual.expect(pairs)
        self._parts.learn(map(self._names.get, self._fixed), self._asserting)

    def _look_at_block(self, space: Any) -> None:
        # In a class body names are looked up in a mapping that its metaclass may have made.
        if space is not self._names and (
            type(space) is not dict or any(map(space.__contains__, self._originals))
        ):
            self.rebound = True

    def _look_at_shadows(self) -> None:
        for name in self._reads.intersection(self._names):
            value = self._names[name]
            owner = value if isinstance(value, (type, _Function)) else type(value)
            if owner.__module__ == "__main__":
                self._tell("program", f"gives the candidate another {name}")

    def _look_at_builtins(self) -> None:
        after, before = vars(builtins), self._builtins
        if len(after) == len(before) and all(map(_is, after.values(), before.values())):
            return
        changed = sorted(
            str(name)[:40]
            for name in before.keys() | after.keys()
            if before.get(name) is not after.get(name) and name not in _OFTEN_REPLACED
        )
        if changed:
            self._tell("program", f"changed built-in names: {', '.join(changed[:20])}")

    def _look_at_tests(self) -> None:
        for name, code in self._tests.items():
            owner, _, member = name.partition(".")
            value = self._names.get(owner)
            if member and value is not None:
                value = vars(value).get(member) if isinstance(value, type) else code
            # What was never defined, or is not yet, is nobody's doing.
            if value is not None and (type(value) is not _Function or value.__code__ is not code):
                self._tell("program", "has tests that were changed while it ran")


def _given_to(frame: FrameType) -> list[object]:
    code, space = frame.f_code, frame.f_locals
    count = code.co_argcount + code.co_kwonlyargcount + sum(bool(code.co_flags & flag) for flag in (4, 8))
    return [space[name] for name in code.co_varnames[:count] if name in space]


def _kind_of(value: object) -> object:
    """What an object can do changes with its class, and a class with its bases."""
    return _bases(value) if type(value) is type else type(value)


def _reads_frame(frame: FrameType) -> bool:
    """Whether a function was given a frame, as those that hear of signals are, and does anything with it."""
    code, space = frame.f_code, frame.f_locals
    read = {
        number
        for kind, number in zip(code.co_code[::2], code.co_code[1::2], strict=True)
        if kind == _LOAD_FAST
    }
    for number, name in enumerate(code.co_varnames):
        value = space.get(name)
        given = value if type(value) is tuple else (value,)
        if any(type(one) is _Frame for one in given) and (number in read or name in code.co_cellvars):
            return True
    return False


def _asserts(code: CodeType, doors: object) -> bool:
    return any(one is doors for inner in codes_in(code) for one in inner.co_consts)


def _code_at(code: CodeType, path: list[str]) -> CodeType | None:
    for name in path:
        found = [one for one in code.co_consts if isinstance(one, type(code)) and one.co_name == name]
        if len(found) != 1:
            return None
        code = found[0]
    return code


def _stored(code: CodeType) -> set[str]:
    """The names of the module that a function binds by a statement."""
    pairs = zip(code.co_code[::2], code.co_code[1::2], strict=True)
    return {
        code.co_names[name] for kind, name in pairs if kind in _GLOBAL_STORES and name < len(code.co_names)
    }


# STORE_GLOBAL and DELETE_GLOBAL, from 3.11 on.
_GLOBAL_STORES = frozenset({97, 98})
_LOAD_FAST = 124
