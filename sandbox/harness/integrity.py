"""Whether candidate, program and built-in names are still what they were, asked with each assertion."""

from __future__ import annotations

import _operator
import _thread
import builtins
import sys

from sandbox.harness.recorder import codes_in

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import CodeType, FrameType
    from typing import Any

# Programs replace these to feed or silence the candidate.
_OFTEN_REPLACED = frozenset({"print", "input", "open", "_", "exit", "quit", "help", "__import__"})
_Function, _OPTIMIZED = type(lambda: 0), 1
_is = _operator.is_
# How many threads there are beside the first one, while they run.
_threads = _thread._count
# With one of these a candidate can change its own data without a statement that says so.
_BY_NAME = frozenset({"globals", "exec", "setattr", "vars", "__dict__", "__main__", "modules"})
_DEEPEST, _MOST_MODULES = 4, 50


class Integrity:
    """Of one run. `tell(who, what)` hears the signs; `rebound`: something stood in the candidate's place.

    `ran` counts the candidate's calls. `fixed` are names of the program that only someone else would change,
    `plain` its definitions that nothing decorates.
    """

    def __init__(
        self, names: dict[str, Any], candidate: str, tell: Callable[[str, str], None], ran: Callable[[], int]
    ) -> None:
        self.rebound = False
        self._names, self._file, self._tell, self._ran = names, candidate, tell, ran
        self._builtins = dict(vars(builtins))
        self._built_in: Any = names["__builtins__"]
        self._codes: dict[int, CodeType] = {}
        self._tests: dict[str, CodeType] = {}
        self._asserting: set[int] = set()
        self._asked = -1
        self._originals: dict[str, object] = {}
        self._parts: list[tuple[Callable[[], list[Any]], list[Any]]] = []
        self._after: dict[str, Any] = vars(builtins)
        self._used: list[tuple[str, object]] = []
        self._reads: frozenset[str] = frozenset()
        self._fixed: tuple[str, ...] = ()
        self._moving: frozenset[str] = frozenset()
        self._before: list[object] = []
        self._attributes: list[tuple[dict[str, Any], str]] = []
        self._read: list[object] = []

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
        self._reads = frozenset((used & self._builtins.keys()) - _OFTEN_REPLACED - set(defined))
        for name in defined:
            value = self._names.get(name)
            if value is not None and (callable(value) or not (name in stored or by_name)):
                self._originals[name] = value
                self._parts += [(now, now()) for now in _parts(value, self._file)]

    def _learn_built_ins(self, codes: list[CodeType]) -> None:
        names = {name for one in codes for name in one.co_names} & self._builtins.keys()
        self._used += [(name, self._builtins[name]) for name in sorted(names - _OFTEN_REPLACED)]

    def is_test(self, code: Any) -> bool:
        """Whether a code object is one of the program's that have assertions."""
        return id(code) in self._asserting

    def exchanged(self, who: str) -> None:
        """A function of the candidate got another part; at its import the candidate may do that itself."""
        if who != "candidate" or self._originals:
            self.rebound = True

    def learn_modules(self) -> None:
        """What the program reads of its modules, as it is before the candidate runs."""
        named = {name for code in self._codes.values() for name in code.co_names}
        waiting = [value for name in self._fixed if type(value := self._names.get(name)) is type(builtins)]
        for module in waiting:
            space = vars(module)
            if module is sys or len(waiting) > _MOST_MODULES:
                continue
            for name in sorted(named & space.keys()):
                if type(space[name]) is type(builtins) and space[name] not in waiting:
                    waiting.append(space[name])
                elif callable(space[name]):
                    self._attributes.append((space, name))
        self._read = [space.get(name) for space, name in self._attributes]

    def left_module(self) -> None:
        """The candidate was imported."""
        if not all(map(_is, (space.get(name) for space, name in self._attributes), self._read)):
            self._tell("candidate", "changes a module that the program uses")

    def entered(self) -> None:
        """The candidate is called."""
        get = self._names.get
        self._before = [get(name) for name in self._fixed]
        if self._attributes:
            self._read = [space.get(name) for space, name in self._attributes]

    def left(self) -> None:
        """The candidate's call has ended."""
        get = self._names.get
        if len(self._before) == len(self._fixed) and not all(map(_is, map(get, self._fixed), self._before)):
            self._look_at_names()
        if self._attributes:
            self.left_module()

    def _look_at_names(self) -> None:
        """A name is not what it was: beside other threads the program itself may have bound it meanwhile."""
        get, is_alone = self._names.get, not _threads()
        for name, before in zip(self._fixed, self._before, strict=True):
            if get(name) is not before and (is_alone or (before is not None and name not in self._moving)):
                self._tell("candidate", "changes names of the program")
                return

    def look(self, frame: FrameType) -> None:
        """An assertion is about to be evaluated in this frame."""
        self.rebound = self.rebound or self.is_rebound()
        names, code = self._names, frame.f_code
        if frame.f_globals is not names or id(code) not in self._codes:
            self._tell("program", "asserts in code or in a namespace that is not its own")
        elif not code.co_flags & _OPTIMIZED:
            self._look_at_block(frame.f_locals)
        if names.get("__builtins__") is not self._built_in:
            self._tell("program", "exchanged its built-in names")
        if self._reads and not self._reads.isdisjoint(names):
            self._look_at_shadows()

    def look_again(self) -> None:
        """It was evaluated."""
        after = self._after
        for name, value in self._used:
            if after.get(name) is not value:
                self._look_at_builtins()
                break
        ran = self._ran()
        if ran != self._asked:
            self._asked = ran
            self._look_at_tests()

    def finish(self) -> None:
        """The run has ended."""
        self.rebound = self.rebound or self.is_rebound()
        self._look_at_builtins()
        self._look_at_tests()

    def is_rebound(self) -> bool:
        """Whether a function, class or constant of the candidate was replaced, or a part of one.

        Who gives a function other code or defaults is heard of: see `exchanged`.
        """
        get = self._names.get
        return any(get(name) is not value for name, value in self._originals.items()) or any(
            list(now()) != before for now, before in self._parts
        )

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


def _parts(value: Any, file: str) -> list[Callable[[], list[Any]]]:
    """What to ask for the parts that change without a word: methods of a class, defaults given by name."""
    if isinstance(value, type):
        members = vars(value)
        return [lambda: [(key, id(one)) for key, one in members.items() if _is_method(one)]]
    named = (one.__kwdefaults__ for one in _functions_in(value, file))
    return [_asking(given) for given in named if given]


def _asking(given: dict[str, Any]) -> Callable[[], list[Any]]:
    return lambda: [(key, id(one)) for key, one in given.items()]


def _functions_in(value: object, file: str) -> list[Any]:
    """A function, and those of the candidate that it holds, as decorators make them."""
    found: list[Any] = []
    waiting = [(value, _DEEPEST)]
    while waiting:
        one, depth = waiting.pop()
        if type(one) is not _Function or not depth:
            continue
        if one.__code__.co_filename == file:
            found.append(one)
        for cell in one.__closure__ or ():
            try:
                waiting.append((cell.cell_contents, depth - 1))
            except ValueError:
                continue  # nothing was put there yet
    return found


def _is_method(member: object) -> bool:
    return callable(member) or isinstance(member, (property, staticmethod, classmethod))
